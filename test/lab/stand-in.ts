/** A mesh worked out by hand for three nodes, so that the lab is proven without `kg`: keys, addresses, routes, CNI file. */
import { generateKeyPairSync } from "node:crypto";
import type { Scenario } from "../../src/lab/index.ts";

/** What the stand-in does on one node, as a piece of a shell script. */
export interface NodePlan {
  readonly name: string;
  readonly script: string;
}

/** Two clouds of one node each, and a node at home behind NAT. */
export const THREE_PLACES: Scenario = {
  name: "three-places",
  places: [
    {
      name: "north",
      lan: "10.1.0.0/24",
      hosts: [{ name: "n1", public: "203.0.113.11", role: { kind: "node", podCIDR: "10.244.1.0/24" } }],
    },
    {
      name: "south",
      lan: "10.2.0.0/24",
      hosts: [{ name: "s1", public: "203.0.113.21", role: { kind: "node", podCIDR: "10.244.2.0/24" } }],
    },
    {
      name: "home",
      lan: "192.168.1.0/24",
      nat: { address: "198.51.100.7" },
      hosts: [{ name: "h1", role: { kind: "node", podCIDR: "10.244.3.0/24" } }],
    },
  ],
};

interface HandMadeNode {
  readonly name: string;
  readonly tunnel: string;
  readonly internal: string;
  readonly podCIDR: string;
  /** None: behind NAT, it calls the others. */
  readonly endpoint?: string | undefined;
}

const NODES: readonly HandMadeNode[] = [
  {
    name: "n1",
    tunnel: "10.4.0.1",
    internal: "10.1.0.11",
    podCIDR: "10.244.1.0/24",
    endpoint: "203.0.113.11",
  },
  {
    name: "s1",
    tunnel: "10.4.0.2",
    internal: "10.2.0.11",
    podCIDR: "10.244.2.0/24",
    endpoint: "203.0.113.21",
  },
  { name: "h1", tunnel: "10.4.0.3", internal: "192.168.1.11", podCIDR: "10.244.3.0/24" },
];

/** Plans for `THREE_PLACES`, with new keys. */
export function threePlacesPlans(): NodePlan[] {
  const keys = new Map(NODES.map((node) => [node.name, generateKeyPairSync("x25519")]));
  const jwk = (name: string): { d?: string; x?: string } =>
    keys.get(name)?.privateKey.export({ format: "jwk" }) ?? {};
  const base64 = (text = ""): string => Buffer.from(text, "base64url").toString("base64");

  return NODES.map((node) => {
    const others = NODES.filter((other) => other !== node);
    const peers = others.map((other) =>
      [
        "[Peer]",
        `PublicKey = ${base64(jwk(other.name).x)}`,
        `AllowedIPs = ${other.tunnel}/32, ${other.internal}/32, ${other.podCIDR}`,
        ...(other.endpoint === undefined ? [] : [`Endpoint = ${other.endpoint}:51820`]),
        `PersistentKeepalive = ${node.endpoint === undefined ? 5 : 0}`,
      ].join("\n"),
    );
    const device = [
      "[Interface]",
      `PrivateKey = ${base64(jwk(node.name).d)}`,
      "ListenPort = 51820",
      ...peers,
    ].join("\n");
    const routes = others.flatMap((other) => [
      `ip route replace ${other.podCIDR} via ${other.tunnel} dev kilo0 onlink src ${node.internal}`,
      `ip route replace ${other.internal}/32 via ${other.tunnel} dev kilo0 onlink src ${node.internal}`,
    ]);
    return { name: node.name, script: nodeScript(node, device, routes) };
  });
}

function nodeScript(node: HandMadeNode, device: string, routes: readonly string[]): string {
  const bridge = {
    type: "bridge",
    bridge: "kube-bridge",
    isDefaultGateway: true,
    forceAddress: true,
    mtu: 1420,
    ipam: { type: "host-local", ranges: [[{ subnet: node.podCIDR }]] },
  };
  const conflist = { cniVersion: "0.4.0", name: "kilo", plugins: [bridge, { type: "portmap", snat: true }] };
  return `
if [ "$(hostname)" = ${node.name} ]; then
  set -e
  echo '${JSON.stringify(conflist)}' >/etc/cni/net.d/10-kilo.conflist
  if ! ip link show kilo0 >/dev/null 2>&1; then
    rm -f /run/wireguard/kilo0.sock
    setsid wireguard-go -f kilo0 >/run/wireguard-go.log 2>&1 </dev/null &
    while [ ! -S /run/wireguard/kilo0.sock ]; do sleep 0.01; done
  fi
  cat >/run/kilo0.conf <<'DEVICE'
${device}
DEVICE
  wg setconf kilo0 /run/kilo0.conf
  ip addr replace ${node.tunnel}/16 dev kilo0
  ip link set kilo0 mtu 1420 up
  ${routes.join("\n  ")}
  echo "stand-in kg on ${node.name}: ready"
fi
`;
}
