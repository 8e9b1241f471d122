/** The flags of `kg`, the agent: Kilo's with Kilo's defaults (kilo.md §1.1), and a few of ours. What is not served is refused here. */
import { type AgentOptions, parseListen } from "../agent/index.ts";
import { UsageError } from "./errors.ts";
import { choiceFlag, optionalFlag, periodFlag, prefixesFlag, switchFlag, textFlag } from "./flag-kinds.ts";
import type { FlagValues } from "./flags.ts";
import { meshOptions, TOPOLOGY_FLAGS } from "./topology-flags.ts";
import { unservedTopology } from "./unserved.ts";

export const KG_FLAGS = {
  hostname: textFlag({
    name: "hostname",
    value: "NAME",
    initial: "",
    help: "name of this host's Node object; the system's host name when empty",
  }),
  interface: textFlag({
    name: "interface",
    value: "LINK",
    initial: "kilo0",
    help: "name of the WireGuard link",
  }),
  wireguard: choiceFlag({
    name: "wireguard",
    words: ["auto", "kernel", "userspace"],
    initial: "auto",
    help: "who serves WireGuard: the kernel, a wireguard-go, or whichever can",
  }),
  createInterface: switchFlag({
    name: "create-interface",
    initial: true,
    help: "make the WireGuard link when it is missing; false: it must exist",
  }),
  kubeconfig: optionalFlag({
    name: "kubeconfig",
    value: "FILE",
    help: "how to reach the API server; in-cluster credentials when not given",
  }),
  master: optionalFlag({
    name: "master",
    value: "URL",
    help: "address of the API server, instead of the kubeconfig's",
  }),
  listen: textFlag({
    name: "listen",
    value: "ADDRESS",
    initial: ":1107",
    help: "where health and metrics are served",
  }),
  resyncPeriod: periodFlag({
    name: "resync-period",
    initial: "30s",
    help: "how often everything is compared",
  }),
  internalCIDRs: prefixesFlag({
    name: "internal-cidr",
    help: "private addresses count as internal IP only inside these",
  }),
  prioritisePrivateAddresses: switchFlag({
    name: "prioritise-private-addresses",
    initial: false,
    help: "publish the private address as endpoint",
  }),
  cniPath: textFlag({
    name: "cni-path",
    value: "FILE",
    initial: "/etc/cni/net.d/10-kilo.conflist",
    help: "the CNI file",
  }),
  stateFolder: textFlag({
    name: "state-folder",
    value: "FOLDER",
    initial: "/var/lib/kilo",
    help: "where the private key lies",
  }),
  logLevel: choiceFlag({
    name: "log-level",
    words: ["all", "debug", "info", "warn", "error", "none"],
    initial: "info",
    help: "least level that is logged",
  }),
  ...TOPOLOGY_FLAGS,
  backend: choiceFlag({
    name: "backend",
    words: ["kubernetes"],
    initial: "kubernetes",
    help: "where objects are stored",
  }),
  cleanUp: switchFlag({
    name: "clean-up",
    initial: true,
    help: "accepted for Kilo's manifests; stopping leaves the data plane in any case, `kg clean-up` removes it",
  }),
  cleanUpInterface: switchFlag({ name: "clean-up-interface", initial: false, help: "not served" }),
  iptablesForwardRules: switchFlag({ name: "iptables-forward-rules", initial: false, help: "not served" }),
} as const;

/**
 * The options of the agent that the flags stand for.
 * @param systemHostname used when `--hostname` is empty
 * @throws UsageError for a flag of Kilo's that is not served: it is refused, never ignored
 */
export function agentOptions(values: FlagValues<typeof KG_FLAGS>, systemHostname: string): AgentOptions {
  refuseUnserved(values);
  return {
    mesh: meshOptions(values),
    hostname: values.hostname === "" ? systemHostname : values.hostname,
    interface: linkName(values.interface),
    wireguard: values.wireguard,
    createInterface: values.createInterface,
    kubeconfig: values.kubeconfig,
    master: values.master,
    listen: listenAddress(values.listen),
    mtu: values.mtu ?? "auto",
    resyncPeriod: values.resyncPeriod / 1000,
    internalCIDRs: values.internalCIDRs,
    prioritisePrivateAddresses: values.prioritisePrivateAddresses,
    cniPath: values.cniPath,
    stateFolder: values.stateFolder,
    logLevel: values.logLevel,
  };
}

function refuseUnserved(values: FlagValues<typeof KG_FLAGS>): void {
  const [first] = unservedTopology(values);
  if (first !== undefined) throw new UsageError(`cannot use ${first.flag}: ${first.reason}`);
  if (values.iptablesForwardRules) {
    throw new UsageError(
      "cannot use --iptables-forward-rules: not served; kg reports foreign rules that drop forwarded packets, let those accept the pod and mesh prefixes",
    );
  }
  if (values.cleanUpInterface) {
    throw new UsageError(
      "cannot use --clean-up-interface: stopping leaves the data plane standing, so that an upgrade loses no packet; `kg clean-up` removes it",
    );
  }
}

/** The kernel's bounds of a link name (IFNAMSIZ less the closing zero; `dev_valid_name`). */
function linkName(name: string): string {
  if (/^[^\s/:]{1,15}$/.test(name) && name !== "." && name !== "..") return name;
  throw new UsageError(
    `cannot use --interface: a link name is 1 to 15 characters without space, slash or colon (${name})`,
  );
}

/** What the agent's own server would refuse later. */
function listenAddress(text: string): string {
  try {
    parseListen(text);
    return text;
  } catch (cause) {
    const reason = "not HOST:PORT, [IPv6]:PORT or :PORT";
    throw new UsageError(`cannot use --listen: ${reason} (${text})`, { cause });
  }
}
