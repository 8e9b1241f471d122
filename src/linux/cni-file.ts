/** kg's part of the CNI configuration: the ranges of host-local and the MTU of pods' links (kilo.md §8). */
import { readFile, rm } from "node:fs/promises";
import { basename } from "node:path";
import { type Prefix, parsePrefix } from "../ip/index.ts";
import type { CniState } from "../mesh/index.ts";
import { replaceFile } from "./cni-file-replace.ts";
import type { CniFile } from "./ports.ts";

/** Where kubelets look, under the name that Kilo gives it. */
export const CNI_FILE = "/etc/cni/net.d/10-kilo.conflist";

/**
 * - `CNI_IO`: the file cannot be read or written
 * - `CNI_FOREIGN`: the file is another network's, or one that nobody can read; it is left as it is
 */
export class CniFileError extends Error {
  readonly code: "CNI_IO" | "CNI_FOREIGN";

  constructor(code: CniFileError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CniFileError";
    this.code = code;
  }
}

export interface CniFileOptions {
  /** @default /etc/cni/net.d/10-kilo.conflist */
  readonly path?: string | undefined;
}

/**
 * The file of this host. It is touched only by these calls (report K-66).
 *
 * A missing file is written whole. In an existing one only ranges and MTU of kg's own plugin change: the first whose ipam is host-local; other
 * plugins, foreign keys and their order stay, also when kg's own values were nonsense (report K-68). A file
 * without such a plugin is another network's (Calico's, Cilium's) and is never written: `CNI_FOREIGN` says what to do. A file that is no JSON
 * object is replaced by the whole one if it has the name that kg itself gives (a write of an older agent that was cut short), else it is left too.
 */
export function createCniFile(options: CniFileOptions = {}): CniFile {
  const path = options.path ?? CNI_FILE;
  return {
    read: async () => {
      const content = await readText(path).catch(() => undefined);
      const plugin = ownPlugin(parse(content));
      return plugin === undefined ? undefined : readState(plugin);
    },
    write: async (state) => {
      const text = await readText(path);
      const existing = parse(text);
      if (text !== undefined) refuseForeign(path, existing);
      const plugin = ownPlugin(existing);
      if (plugin !== undefined && sameState(readState(plugin), state)) return false;
      await writeText(path, render(existing, state));
      return true;
    },
    remove: async () => {
      const text = await readText(path);
      const state = readState(ownPlugin(parse(text)) ?? {});
      if (state === undefined || text !== render(undefined, state)) return [];
      await removeFile(path);
      return [`CNI file ${path}`];
    },
  };
}

type JsonObject = Record<string, unknown>;

/** The whole file for a host that has none: the bridge that Kilo uses, so that pods keep their links when the agent is exchanged. */
function freshConfig(): JsonObject {
  return {
    cniVersion: "0.4.0",
    name: "kilo",
    plugins: [
      {
        name: "kubernetes",
        type: "bridge",
        bridge: "kube-bridge",
        isDefaultGateway: true,
        forceAddress: true,
        mtu: 0,
        ipam: { type: "host-local" },
      },
      { type: "portmap", snat: true, capabilities: { portMappings: true } },
    ],
  };
}

function render(existing: unknown, state: CniState): string {
  const config = ownPlugin(existing) === undefined ? freshConfig() : existing;
  const plugin = ownPlugin(config);
  if (plugin !== undefined) {
    plugin.mtu = state.mtu;
    const ipam = isObject(plugin.ipam) ? plugin.ipam : {};
    ipam.ranges = state.ranges.map((range) => [{ subnet: range.text }]);
    // host-local would hand out the old address beside the ranges.
    delete ipam.subnet;
    plugin.ipam = ipam;
  }
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Throws when the file is not kg's to write. */
function refuseForeign(path: string, existing: unknown): void {
  if (ownPlugin(existing) !== undefined) return;
  const advice = "give another --cni-path, or --cni=false to leave the pods' network to others";
  if (isObject(existing)) {
    const whose = typeof existing.name === "string" ? `network "${existing.name}"` : "another network";
    throw new CniFileError(
      "CNI_FOREIGN",
      `cannot write CNI file ${path}: it is that of ${whose}, without a plugin whose addresses come from host-local; ${advice}`,
    );
  }
  if (basename(path) === basename(CNI_FILE)) return;
  throw new CniFileError(
    "CNI_FOREIGN",
    `cannot write CNI file ${path}: it is there and is no JSON object; remove it, or ${advice}`,
  );
}

/** The first plugin whose addresses come from host-local. */
function ownPlugin(config: unknown): JsonObject | undefined {
  const plugins = isObject(config) ? config.plugins : undefined;
  if (!Array.isArray(plugins)) return undefined;
  return plugins
    .filter(isObject)
    .find((plugin) => isObject(plugin.ipam) && plugin.ipam.type === "host-local");
}

/** Undefined when ranges or MTU are missing or nonsense, or when there is more than what kg writes. */
function readState(plugin: JsonObject): CniState | undefined {
  const ipam = isObject(plugin.ipam) ? plugin.ipam : {};
  const { mtu } = plugin;
  if (typeof mtu !== "number" || !Array.isArray(ipam.ranges) || "subnet" in ipam) return undefined;
  const ranges: Prefix[] = [];
  for (const set of ipam.ranges) {
    const only: unknown = Array.isArray(set) && set.length === 1 ? set[0] : undefined;
    const subnet = isObject(only) && typeof only.subnet === "string" ? parsePrefix(only.subnet) : undefined;
    if (subnet === undefined) return undefined;
    ranges.push(subnet);
  }
  return { ranges, mtu };
}

function sameState(seen: CniState | undefined, wanted: CniState): boolean {
  if (seen === undefined || seen.mtu !== wanted.mtu) return false;
  return text(seen.ranges) === text(wanted.ranges);
}

function text(ranges: readonly Prefix[]): string {
  return ranges.map((range) => range.text).join(" ");
}

/** Undefined when there is no such file. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (isObject(cause) && cause.code === "ENOENT") return undefined;
    throw new CniFileError("CNI_IO", `cannot read CNI file ${path}: ${reason(cause)}`, cause);
  }
}

async function writeText(path: string, content: string): Promise<void> {
  try {
    await replaceFile(path, content, 0o644);
  } catch (cause) {
    throw new CniFileError("CNI_IO", `cannot write CNI file ${path}: ${reason(cause)}`, cause);
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await rm(path);
  } catch (cause) {
    throw new CniFileError("CNI_IO", `cannot remove CNI file ${path}: ${reason(cause)}`, cause);
  }
}

function parse(content: string | undefined): unknown {
  try {
    return content === undefined ? undefined : JSON.parse(content);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
