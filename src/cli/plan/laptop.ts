/** What an external Peer has to configure, as wg-quick and WireGuard's apps read it, but for the private key. Holds no secret. */
import { familyBits, type InterfaceAddress, networkOf } from "../../ip/index.ts";
import type { PeerPlan, Topology } from "../../mesh/index.ts";
import type { Endpoint, PeerConfig, PeerText, PublicKey } from "../../wireguard/index.ts";
import { peerLines } from "./device-text.ts";
import { nameKeys } from "./peer-names.ts";

/** Lines of the file. @param mtu bytes */
export function laptopLines(name: string, plan: PeerPlan, mtu: number): string[] {
  const { topology } = plan;
  return [
    "[Interface]",
    `# PrivateKey = (only ${name} has it)`,
    ...addressLines(name, plan.addresses),
    `MTU = ${mtu}`,
    ...peerLines(
      plan.peers.map((peer) => withName(peer, topology)),
      nameKeys(topology),
    ),
  ];
}

/** A Peer's allowed IPs are its own addresses, and networks that lie behind it: those are no address of its link. */
function addressLines(name: string, all: readonly InterfaceAddress[]): string[] {
  const own = all.filter(isOwnAddress).map(({ text }) => text);
  const behind = all.filter((address) => !isOwnAddress(address)).map(({ text }) => text);
  const first =
    own.length > 0
      ? `Address = ${own.join(", ")}`
      : `# Address = (none: Peer ${name} has no allowed IP of its own, like 10.5.0.1/32)`;
  return behind.length === 0 ? [first] : [first, `# behind ${name}: ${behind.join(", ")}`];
}

function isOwnAddress(address: InterfaceAddress): boolean {
  const network = networkOf(address);
  return network.length === familyBits(network.family) || network.text !== address.text;
}

/** WireGuard's tools resolve names by themselves, so a name without address here is written as it is. */
function withName(peer: PeerConfig, topology: Topology): PeerText {
  if (peer.endpoint !== undefined) return peer;
  const announced = announcedEndpoint(peer.publicKey, topology);
  return announced?.kind === "name" ? { ...peer, endpoint: announced } : peer;
}

function announcedEndpoint(key: PublicKey, { segments, peers }: Topology): Endpoint | undefined {
  const leader = segments.find((segment) => segment.leader.publicKey === key)?.leader;
  return leader?.endpoints[0] ?? peers.find(({ facts }) => facts.publicKey === key)?.facts.endpoint;
}
