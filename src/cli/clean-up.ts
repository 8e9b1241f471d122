/** `kg clean-up`: undoes what the agent did to this host. */
import { cleanUp as cleanUpHost } from "../agent/index.ts";
import { UsageError } from "./errors.ts";
import { parseFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { agentOptions, KG_FLAGS } from "./kg-flags.ts";
import { sayPlainly } from "./start-errors.ts";
import type { Verb } from "./verb.ts";

/** The flags that say what is there to remove. The others are taken too, so that an agent's command line can be used as it is. */
const MATTERING = {
  hostname: KG_FLAGS.hostname,
  interface: KG_FLAGS.interface,
  wireguard: KG_FLAGS.wireguard,
  createInterface: KG_FLAGS.createInterface,
  kubeconfig: KG_FLAGS.kubeconfig,
  master: KG_FLAGS.master,
  cni: KG_FLAGS.cni,
  cniPath: KG_FLAGS.cniPath,
} as const;

export const cleanUp: Verb = {
  name: "clean-up",
  summary: "removes everything kg ever made on this host; the private key stays",
  usage: "clean-up [FLAGS]",
  notes:
    "Stop the agent first, and give the same flags as it had; those below matter, all others of the agent are taken and change nothing. Routes, rules, the firewall's table, the WireGuard link, the CNI file if kg wrote it whole, and the annotations of the Node go; each is named. Exit code 0 when everything is gone.",
  flags: MATTERING,
  run: runVerb,
};

async function runVerb(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseFlags(KG_FLAGS, args);
  if (positionals.length > 0)
    throw new UsageError(`cannot clean up: it takes flags only (${positionals[0]})`);
  const options = agentOptions({ ...values, encapsulate: "never" }, io.hostname());
  return sayPlainly(() => cleanUpHost(options, (line) => io.stdout(`${line}\n`)));
}
