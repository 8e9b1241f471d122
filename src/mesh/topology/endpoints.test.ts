/** Which of several known endpoints is called: the cases, each in one line. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseInterfaceAddress } from "../../ip/index.ts";
import { formatEndpoint, parseEndpoint } from "../../wireguard/index.ts";
import { address, endpoint, f3n, K3, KP, learned, NOW, node, p1 } from "../fixtures.test-kit.ts";
import { endpointOf, plan } from "../reports.test-kit.ts";
import { EndpointBook, isBehindNat } from "./endpoints.ts";

interface Case {
  readonly keepalive?: number;
  /** What the owner announces; `home.example` resolves to 198.51.100.50, `dead.example` to nothing. */
  readonly announced?: string;
  readonly internalIP?: string;
  /** Where the own device heard it 5 s ago. */
  readonly living?: string;
  /** How long ago the last packet came, in seconds. Default: unknown. */
  readonly silentFor?: number;
  /** Where the own device heard it an hour ago. */
  readonly remembered?: string;
  /** Where somebody else says that it is heard. */
  readonly published?: string;
}

const OLD = "203.0.113.9:40001";
const NEW = "203.0.113.77:51820";
const LAN = "192.168.1.5:51820";

function chosen(sketch: Case): string | undefined {
  const { keepalive = 10, announced, internalIP, living, silentFor, remembered, published } = sketch;
  const internal = internalIP === undefined ? undefined : parseInterfaceAddress(internalIP);
  const own = [
    ...(living === undefined ? [] : [{ ...learned(K3, living, 5), heardAt: silentFor && NOW - silentFor }]),
    ...(remembered === undefined ? [] : [learned(K3, remembered, 3600)]),
  ];
  const book = new EndpointBook({
    learned: own,
    published: published === undefined ? [] : [[{ publicKey: K3, endpoint: endpoint(published) }]],
    resolve: (name) => (name === "home.example" ? [address("198.51.100.50")] : undefined),
    now: NOW,
  });
  const found = book.effective({
    publicKey: K3,
    announced: parseEndpoint(announced ?? ""),
    persistentKeepalive: keepalive,
    internalIPs: internal === undefined ? [] : [internal],
  });
  return found && formatEndpoint(found);
}

describe("a laptop that got another port is found by a node that it cannot call, while their old session still lives", () => {
  const table: [string, Case, string | undefined][] = [
    ["heard here", { living: OLD, silentFor: 24, published: NEW }, OLD],
    ["silent here, heard elsewhere", { living: OLD, silentFor: 26, published: NEW }, NEW],
    ["silent here, heard nowhere", { living: OLD, silentFor: 26 }, OLD],
    ["silent here, heard nowhere, announced", { living: OLD, silentFor: 26, announced: NEW }, OLD],
    [
      "a longer keepalive may be silent for longer",
      { keepalive: 25, living: OLD, silentFor: 60, published: NEW },
      OLD,
    ],
    [
      "without keepalive silence says nothing",
      { keepalive: 0, living: OLD, silentFor: 170, published: NEW },
      OLD,
    ],
  ];
  for (const [name, sketch, expected] of table) it(name, () => assert.equal(chosen(sketch), expected));
});

describe("K-13: what an owner announces is followed when its session is dead", () => {
  const table: [string, Case, string | undefined][] = [
    ["a new DNS answer", { announced: "home.example:7", remembered: OLD }, "198.51.100.50:7"],
    ["a forced endpoint", { announced: NEW, remembered: OLD }, NEW],
    ["a forced port", { announced: "203.0.113.9:51999", remembered: OLD }, "203.0.113.9:51999"],
    [
      "a forced private address",
      { announced: "10.9.0.6:7", internalIP: "10.9.0.5/24", remembered: OLD },
      "10.9.0.6:7",
    ],
    ["a private address of a Peer, which somebody wrote", { announced: LAN, remembered: OLD }, LAN],
    ["its own public address", { announced: NEW, internalIP: "203.0.113.77/32", remembered: OLD }, NEW],
    ["without keepalive too", { keepalive: 0, announced: NEW, remembered: OLD, living: OLD }, NEW],
  ];
  for (const [title, sketch, wanted] of table) it(title, () => assert.equal(chosen(sketch), wanted));
});

describe("K-01, K-02: where an owner with keepalive is heard comes before what it announces", () => {
  const table: [string, Case, string | undefined][] = [
    ["by this host", { announced: NEW, living: OLD }, OLD],
    ["by this host first", { announced: NEW, living: OLD, published: "198.18.0.3:4003" }, OLD],
    ["by another", { announced: NEW, published: OLD }, OLD],
    ["by another, whatever this host remembers", { published: NEW, remembered: OLD }, NEW],
    ["but not without keepalive", { keepalive: 0, announced: NEW, published: OLD }, NEW],
  ];
  for (const [title, sketch, wanted] of table) it(title, () => assert.equal(chosen(sketch), wanted));
});

describe("K-08: who was heard once is called there when there is nothing better", () => {
  const table: [string, Case, string | undefined][] = [
    ["nothing is announced", { remembered: OLD }, OLD],
    ["nothing is announced, without keepalive", { keepalive: 0, remembered: OLD }, OLD],
    ["the name does not resolve", { announced: "dead.example:7", remembered: OLD }, OLD],
    [
      "only its own network reaches what it announces",
      { announced: LAN, internalIP: "192.168.1.5/24", remembered: OLD },
      OLD,
    ],
    [
      "the same, but it says that it stays there",
      { keepalive: 0, announced: LAN, internalIP: "192.168.1.5/24", remembered: OLD },
      LAN,
    ],
    ["nobody ever heard it", { announced: LAN, internalIP: "192.168.1.5/24" }, LAN],
    ["nothing is known", {}, undefined],
    ["an address that no other host reaches is nothing", { announced: "127.0.0.1:7" }, undefined],
  ];
  for (const [title, sketch, wanted] of table) it(title, () => assert.equal(chosen(sketch), wanted));
});

it("an owner is behind NAT when it roams and announces an internal IP that is not public", () => {
  const judge = (announced: string, persistentKeepalive: number, internalIP: string) => {
    const internal = parseInterfaceAddress(internalIP);
    assert.ok(internal);
    return isBehindNat({ announced: parseEndpoint(announced), persistentKeepalive, internalIPs: [internal] });
  };
  assert.equal(judge(LAN, 10, "192.168.1.5/24"), true);
  assert.equal(judge(LAN, 0, "192.168.1.5/24"), false);
  assert.equal(judge(LAN, 10, "192.168.1.6/24"), false);
  assert.equal(judge("203.0.113.1:7", 10, "203.0.113.1/24"), false);
  assert.equal(judge("home.example:7", 10, "192.168.1.5/24"), false);
});

describe("a host's plan", () => {
  const heard = (publicKey: string, ip: string, port: number) => ({
    "discovered-endpoints": JSON.stringify({ [publicKey]: { IP: ip, Port: port, Zone: "" } }),
  });

  it("K-13: a laptop's name has a new address and its session is dead: the plan follows", () => {
    const peers = [p1({ persistentKeepalive: 10, endpoint: { dnsOrIP: { dns: "home.example" }, port: 7 } })];
    const own = { learned: [learned(KP, "198.18.1.1:7", 200)] };
    const planned = plan("a1", { peers, own, resolve: () => [address("198.18.1.2")] });
    assert.equal(endpointOf(planned, KP), "198.18.1.2:7");
  });

  it("K-13: what this host itself published before the session died does not hold it back", () => {
    const peers = [p1({ persistentKeepalive: 10, endpoint: { dnsOrIP: { ip: "198.18.1.2" }, port: 7 } })];
    const nodes = f3n({ a1: { annotations: heard(KP, "198.18.1.1", 7) } });
    const dead = { learned: [learned(KP, "198.18.1.1:7", 200)] };
    assert.equal(endpointOf(plan("a1", { nodes, peers, own: dead }), KP), "198.18.1.2:7");
    assert.equal(endpointOf(plan("a1", { nodes, peers }), KP), "198.18.1.1:7", "a device that knows nothing");
  });

  it("K-08: a node at home whose session is dead is called where it was heard, not at its private address", () => {
    const nodes = f3n({ b1: { internalIP: "192.168.1.5/24" } });
    const own = { learned: [learned(K3, OLD, 3600)] };
    assert.equal(endpointOf(plan("a1", { nodes, own }), K3), OLD);
  });

  it("a node that takes no part publishes nothing that counts", () => {
    const c1 = {
      name: "c1",
      podCIDR: "10.244.3.0/24",
      endpoint: "192.0.2.1:7",
      key: KP,
      annotations: heard(K3, "203.0.113.9", 40001),
    };
    const at = (lastSeen: number) => plan("a1", { nodes: [...f3n(), node({ ...c1, lastSeen })] });
    assert.equal(endpointOf(at(NOW), K3), OLD);
    assert.equal(endpointOf(at(NOW - 3600), K3), "192.168.1.5:51820");
  });
});
