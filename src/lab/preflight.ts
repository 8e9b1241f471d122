/** What a lab needs of the machine, looked for before anything is built, so that the message is about that and not about a failed command. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { PLUGIN_FOLDERS } from "./cni.ts";
import { BASE_ENVIRONMENT } from "./command.ts";
import { LabError } from "./errors.ts";

/** Programs that every lab needs, and the Debian packages that have them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  bash: "bash",
  ip: "iproute2",
  nft: "nftables",
  nsenter: "util-linux",
  openssl: "openssl",
  ping: "iputils-ping",
  setpriv: "util-linux",
  unshare: "util-linux",
  wg: "wireguard-tools",
};

/** Programs that only some of what a lab can do needs: they are looked for when that is asked for. */
const SOMETIMES: Readonly<Record<string, string>> = {
  fping: "fping",
  tcpdump: "tcpdump",
  "wireguard-go": "wireguard-go",
};

const CNI_PLUGINS = ["bridge", "host-local", "portmap"];

/** Who serves WireGuard in a lab. */
export type WireguardKind = "userspace" | "kernel";

/** Debian packages that are missing for a lab; empty when everything is there. */
export function missingPackages(wireguard: WireguardKind): string[] {
  const needed = { ...PROGRAMS, ...(wireguard === "userspace" && { "wireguard-go": "wireguard-go" }) };
  const programs = Object.entries(needed).filter(([program]) => !isProgram(program));
  const plugins = CNI_PLUGINS.every((plugin) => isIn(PLUGIN_FOLDERS, plugin))
    ? []
    : ["containernetworking-plugins"];
  return [...new Set([...programs.map(([, name]) => name), ...plugins])].sort();
}

/** @throws LabError `missing` that says what to do */
export function checkMachine(wireguard: WireguardKind): void {
  if (process.getuid?.() !== 0) {
    throw new LabError("missing", "cannot build a lab: network namespaces need root (run it with sudo)");
  }
  const missing = missingPackages(wireguard);
  if (missing.length > 0) {
    throw new LabError(
      "missing",
      `cannot build a lab: programs are missing (apt-get install ${missing.join(" ")})`,
    );
  }
  if (wireguard === "kernel") checkKernelWireguard();
}

/**
 * Looks for a program that only a part of the lab needs.
 * @param purpose what it is needed for, e.g. `measure losses`
 * @throws LabError `missing` that names its package
 */
export function requireProgram(program: keyof typeof SOMETIMES, purpose: string): void {
  if (isProgram(program)) return;
  throw new LabError(
    "missing",
    `cannot ${purpose}: ${program} is missing (apt-get install ${SOMETIMES[program]})`,
  );
}

/** Makes a WireGuard link in an empty network of its own, which ends with the command. Loads the module where there is one. */
function checkKernelWireguard(): void {
  const probe = ["--net", "ip", "link", "add", "wg0", "type", "wireguard"];
  const { status, stderr } = spawnSync("unshare", probe, { env: BASE_ENVIRONMENT, encoding: "utf8" });
  if (status === 0) return;
  const said = stderr.trim().replaceAll(/\s+/g, " ");
  throw new LabError(
    "missing",
    `cannot use the kernel's WireGuard: it makes no such link (${said}); load the module (modprobe wireguard), or use wireguard-go, which is the default`,
  );
}

function isProgram(program: string): boolean {
  return isIn((BASE_ENVIRONMENT.PATH ?? "").split(":"), program);
}

function isIn(folders: readonly string[], program: string): boolean {
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
