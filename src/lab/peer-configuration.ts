/** A WireGuard configuration as people write it (wg-quick(8)), taken apart into what `wg setconf` and `ip` need. Pure. */

export interface PeerConfiguration {
  /** What `wg setconf` takes, with the private key put in. */
  readonly device: string;
  /** From `Address`, e.g. `10.5.0.1/32`. */
  readonly addresses: readonly string[];
  /** From `MTU`, in bytes. */
  readonly mtu?: number | undefined;
  /** Every `AllowedIPs` of every peer: what has to be routed into the tunnel. */
  readonly allowedIPs: readonly string[];
}

/** Keys that wg-quick reads itself and `wg` refuses (wg-quick(8)). */
const QUICK_KEYS = ["address", "dns", "mtu", "table", "preup", "postup", "predown", "postdown", "saveconfig"];

/** Reads a configuration; its private key, or a placeholder for it, is replaced by `privateKey`. Comments are dropped. */
export function readPeerConfiguration(text: string, privateKey: string): PeerConfiguration {
  const device: string[] = [];
  const values = new Map<string, string[]>();
  let interfaceSeen = false;

  for (const raw of text.split("\n")) {
    const line = raw.replace(/#.*/, "").trim();
    if (line === "") continue;
    const [key = "", value = ""] = splitOnce(line);
    const name = key.toLowerCase();
    values.set(name, [...(values.get(name) ?? []), ...value.split(",").map((part) => part.trim())]);
    if (name === "privatekey" || QUICK_KEYS.includes(name)) continue;
    device.push(line);
    if (name === "[interface]") {
      interfaceSeen = true;
      device.push(`PrivateKey = ${privateKey}`);
    }
  }

  const mtu = values.get("mtu")?.[0];
  return {
    device: `${(interfaceSeen ? device : ["[Interface]", `PrivateKey = ${privateKey}`, ...device]).join("\n")}\n`,
    addresses: values.get("address") ?? [],
    mtu: mtu === undefined ? undefined : Number(mtu),
    allowedIPs: (values.get("allowedips") ?? []).filter((prefix) => prefix !== ""),
  };
}

/**
 * What has to be done to a device with the peers of one configuration so that it has those of another: arguments of `wg set LINK`. Peers that
 * are the same in both are not in it.
 * @param from as `device` of `readPeerConfiguration`
 * @param to as `from`
 */
export function changedPeers(from: string, to: string): string[] {
  const before = peerSections(from);
  const after = peerSections(to);
  const removed = [...before.keys()]
    .filter((key) => !after.has(key))
    .flatMap((key) => ["peer", key, "remove"]);
  const changed = [...after].filter(([key, settings]) => !sameSettings(settings, before.get(key)));
  return [...removed, ...changed.flatMap(([key, settings]) => ["peer", key, ...setArguments(settings)])];
}

/** Names of settings in lower case, without the key; lists without blanks. */
type PeerSettings = ReadonlyMap<string, string>;

function peerSections(device: string): ReadonlyMap<string, PeerSettings> {
  const sections = device.split("[Peer]").slice(1);
  return new Map(
    sections.map((section) => {
      const lines = section.split("\n").filter((line) => line.includes("="));
      const settings = new Map(
        lines.map((line) => {
          const [name = "", value = ""] = splitOnce(line);
          return [name.toLowerCase(), value.replaceAll(" ", "")];
        }),
      );
      const key = settings.get("publickey") ?? "";
      settings.delete("publickey");
      return [key, settings];
    }),
  );
}

function sameSettings(settings: PeerSettings, others: PeerSettings | undefined): boolean {
  return settings.size === others?.size && [...settings].every(([name, value]) => others.get(name) === value);
}

/** Names as `wg set` has them (wg(8)). What is absent is set to nothing. */
function setArguments(settings: PeerSettings): string[] {
  const endpoint = settings.get("endpoint");
  return [
    ...(endpoint === undefined ? [] : ["endpoint", endpoint]),
    ...["persistent-keepalive", settings.get("persistentkeepalive") ?? "off"],
    ...["allowed-ips", settings.get("allowedips") ?? ""],
  ];
}

function splitOnce(line: string): string[] {
  const equals = line.indexOf("=");
  return equals < 0 ? [line] : [line.slice(0, equals).trim(), line.slice(equals + 1).trim()];
}
