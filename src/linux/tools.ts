/** The programs that the drivers start: found once, and named with the Debian package that brings them when they are missing. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Program → Debian and Ubuntu package. */
const PACKAGES = {
  nft: "nftables",
  "wireguard-go": "wireguard-go",
  wg: "wireguard-tools",
  ip: "iproute2",
  "iptables-legacy": "iptables",
} as const;

/** A program that some driver needs. */
export type Tool = keyof typeof PACKAGES;

/** Searched after PATH: services and `su` often run with a PATH without them, and this is where Debian puts these programs. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"];

/** Code `TOOL_MISSING`. The message names every missing program and the packages to install. */
export class MissingToolError extends Error {
  readonly code = "TOOL_MISSING";
  readonly tools: readonly Tool[];

  constructor(tools: readonly Tool[]) {
    const packages = [...new Set(tools.map((tool) => PACKAGES[tool]))];
    super(
      `cannot find ${tools.join(", ")}: not installed; on Debian or Ubuntu: apt-get install ${packages.join(" ")}`,
    );
    this.name = "MissingToolError";
    this.tools = tools;
  }
}

/** The path of a program; undefined when it is not installed. `path` is a search path as in $PATH. */
export function findTool(tool: Tool, path: string = process.env.PATH ?? ""): string | undefined {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ""), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, tool)).find(isExecutable);
}

/** The paths of these programs. Throws `MissingToolError` that names all that are missing, not only the first. */
export function requireTools<const T extends Tool>(tools: readonly T[], path?: string): Record<T, string> {
  const found = tools.map((tool) => [tool, findTool(tool, path)] as const);
  const missing = found.filter(([, file]) => file === undefined).map(([tool]) => tool);
  if (missing.length > 0) throw new MissingToolError(missing);
  return Object.fromEntries(found) as Record<T, string>;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
