/** WireGuard's own text form, with the name of each peer as a comment. Holds no secret. */
import { type ConfigText, type PeerText, renderConfig } from "../../wireguard/index.ts";
import type { NameOfKey } from "./peer-names.ts";

/** A device: `[Interface]` and its peers. */
export function deviceLines(device: ConfigText, nameOf: NameOfKey): string[] {
  return [...lines(renderConfig({ ...device, peers: [] })), ...peerLines(device.peers, nameOf)];
}

/** Peers only, each after an empty line. */
export function peerLines(peers: readonly PeerText[], nameOf: NameOfKey): string[] {
  return peers.flatMap((peer) => {
    const name = nameOf(peer.publicKey);
    const config = renderConfig({ listenPort: 0, peers: [peer] }, { interface: false });
    return ["", ...(name === undefined ? [] : [`# ${name}`]), ...lines(config)];
  });
}

function lines(text: string): string[] {
  return text.trimEnd().split("\n");
}
