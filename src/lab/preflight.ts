/** What a lab needs of the machine, looked for before anything is built, so that the message is about that and not about a failed command. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { PLUGIN_FOLDERS } from "./cni.ts";
import { BASE_ENVIRONMENT } from "./command.ts";
import { LabError } from "./errors.ts";

/** Programs and the Debian packages that have them. */
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
  "wireguard-go": "wireguard-go",
};

const CNI_PLUGINS = ["bridge", "host-local", "portmap"];

/** Packages that are missing for a lab; empty when everything is there. */
export function missingPackages(): string[] {
  const folders = (BASE_ENVIRONMENT.PATH ?? "").split(":");
  const programs = Object.entries(PROGRAMS).filter(([program]) => !isIn(folders, program));
  const plugins = CNI_PLUGINS.every((plugin) => isIn(PLUGIN_FOLDERS, plugin))
    ? []
    : ["containernetworking-plugins"];
  return [...new Set([...programs.map(([, name]) => name), ...plugins])].sort();
}

/** @throws LabError `missing` that says what to do */
export function checkMachine(): void {
  if (process.getuid?.() !== 0) {
    throw new LabError("missing", "cannot build a lab: network namespaces need root (run it with sudo)");
  }
  const missing = missingPackages();
  if (missing.length > 0) {
    throw new LabError(
      "missing",
      `cannot build a lab: programs are missing (apt-get install ${missing.join(" ")})`,
    );
  }
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
