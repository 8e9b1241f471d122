/** WireGuard's own text form, with the name of each peer as a comment. Holds no secret. */
import { type ConfigText, type PeerText, renderConfig } from "../../wireguard/index.ts";
import type { NameOfKey } from "./peer-names.ts";

/** A device: `[Interface]` and its peers. */
export function deviceLines(device: ConfigText, nameOf: NameOfKey): string[] {
  return [...lines(renderConfig({ ...device, peers: [] })), ...peerLines(device.peers, nameOf)];
}

/** Peers only, each after an empty line. That one has no endpoint is said, so that it is no surprise who has to call whom. */
export function peerLines(peers: readonly PeerText[], nameOf: NameOfKey): string[] {
  return peers.flatMap((peer) => {
    const name = nameOf(peer.publicKey);
    const comment = [name, peer.endpoint === undefined ? NO_ENDPOINT : undefined]
      .filter(isPresent)
      .join("; ");
    const config = renderConfig({ listenPort: 0, peers: [peer] }, { interface: false });
    return ["", ...(comment === "" ? [] : [`# ${comment}`]), ...lines(config)];
  });
}

const NO_ENDPOINT = "no endpoint known: it has to call";

function isPresent(text: string | undefined): text is string {
  return text !== undefined;
}

function lines(text: string): string[] {
  return text.trimEnd().split("\n");
}
