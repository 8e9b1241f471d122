import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Address, parseAddress, parseInterfaceAddress, parsePrefix } from "../../ip/index.ts";
import type { HostChanges, HostState } from "../../mesh/index.ts";
import { parsePublicKey, SecretKey, socketEndpoint } from "../../wireguard/index.ts";
import { changesText } from "./changes-text.ts";
import { hostText } from "./host-text.ts";
import { planJson } from "./json.ts";

const KEY = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const SECRET = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

const STATE: HostState = {
  mesh: {
    up: true,
    mtu: 1420,
    addresses: [some(parseInterfaceAddress("10.4.0.1/16"))],
    device: {
      privateKey: some(SecretKey.parse(SECRET)),
      listenPort: 51820,
      peers: [
        {
          publicKey: some(parsePublicKey(KEY)),
          presharedKey: some(SecretKey.parse(SECRET)),
          endpoint: socketEndpoint(ip("203.0.113.1"), 51820),
          allowedIPs: [some(parsePrefix("10.244.2.0/24"))],
          persistentKeepalive: 0,
        },
      ],
    },
  },
  routes: [
    {
      kind: "unicast",
      destination: some(parsePrefix("10.244.2.0/24")),
      link: "mesh",
      gateway: ip("10.4.0.2"),
      source: ip("10.0.1.1"),
      table: 254,
      metric: 0,
    },
    { kind: "unreachable", destination: some(parsePrefix("10.4.0.0/16")), table: 254, metric: 4_000_000_000 },
  ],
  rules: [{ priority: 11070, to: some(parsePrefix("10.0.1.2/32")), inputLink: "mesh", table: 1107 }],
  firewall: {
    sets: {
      masquerade_from: [some(parsePrefix("10.244.0.0/24"))],
      keep_source: [],
      location_ips: [],
      location_nodes: [],
      remote_internal: [],
    },
    remoteInternalLink: "mesh",
  },
  cni: { ranges: [some(parsePrefix("10.244.0.0/24"))], mtu: 1420 },
};

describe("plan as text", () => {
  it("uses the words of wg, ip route and ip rule", () => {
    const lines = hostText(STATE, nameOf).split("\n");
    for (const line of [
      "  ListenPort = 51820",
      "  # Node b1",
      "  Endpoint = 203.0.113.1:51820",
      "  mesh up mtu 1420 10.4.0.1/16",
      "  10.244.2.0/24 via 10.4.0.2 dev mesh src 10.0.1.1",
      "  unreachable 10.4.0.0/16 metric 4000000000",
      "  11070: from all to 10.0.1.2/32 iif mesh lookup 1107",
      "  masquerade_from: 10.244.0.0/24",
      "  keep_source: (empty)",
      "  ranges 10.244.0.0/24",
    ]) {
      assert.ok(lines.includes(line), `${line}\nis not in\n${lines.join("\n")}`);
    }
  });

  it("says (none) where there is nothing", () => {
    const text = hostText({ routes: [], rules: [] }, nameOf);
    assert.equal(text.match(/:\n {2}\(none\)\n/g)?.length, 6, text);
  });

  it("no secret is printed, as text or JSON", () => {
    for (const text of [hostText(STATE, nameOf), planJson(STATE), changesText(allChanges(), nameOf)]) {
      assert.ok(!text.includes(SECRET.slice(0, 20)), text);
    }
    assert.match(planJson(STATE), /"privateKey": "\(hidden\)"/);
  });
});

describe("plan as JSON", () => {
  it("writes addresses, prefixes and endpoints as texts", () => {
    const json = JSON.parse(planJson(STATE));
    assert.equal(json.mesh.addresses[0], "10.4.0.1/16");
    assert.equal(json.mesh.device.peers[0].endpoint, "203.0.113.1:51820");
    assert.deepEqual(json.mesh.device.peers[0].allowedIPs, ["10.244.2.0/24"]);
    assert.deepEqual(json.routes[0], {
      kind: "unicast",
      destination: "10.244.2.0/24",
      link: "mesh",
      gateway: "10.4.0.2",
      source: "10.0.1.1",
      table: 254,
      metric: 0,
    });
    assert.equal(json.routes[1].metric, 4_000_000_000);
  });
});

describe("changes as text", () => {
  it("says so when nothing changes", () => {
    const none: HostChanges = { setRoutes: [], removeRoutes: [], addRules: [], removeRules: [] };
    assert.equal(changesText(none, nameOf), "Nothing changes.\n");
  });

  it("marks what is added, removed and changed in place", () => {
    const lines = changesText(allChanges(), nameOf).split("\n");
    for (const line of [
      `  + peer ${KEY} (Node b1)`,
      "      endpoint 203.0.113.1:51820",
      "      allowed IPs 10.244.2.0/24",
      "      keepalive 0 s",
      "      preshared key (hidden)",
      `  ~ peer ${KEY} (Node b1)`,
      "      allowed IPs (none)",
      "      preshared key removed",
      `  - peer ${KEY} (Node b1)`,
      "  ~ listen port 51821",
      "  + mesh; mtu 1420; up; + 10.4.0.1/16",
      "  ~ tunnel; down; - 10.4.0.1/16",
      "  + 10.244.2.0/24 via 10.4.0.2 dev mesh src 10.0.1.1",
      "  - unreachable 10.4.0.0/16 metric 4000000000",
      "  + 11070: from all to 10.0.1.2/32 iif mesh lookup 1107",
      "  + keep_source 10.244.2.0/24",
      "  ~ ranges 10.244.0.0/24",
    ]) {
      assert.ok(lines.includes(line), `${line}\nis not in\n${lines.join("\n")}`);
    }
  });
});

function allChanges(): HostChanges {
  const publicKey = some(parsePublicKey(KEY));
  const [first, second] = STATE.routes;
  const added = STATE.mesh?.device.peers[0];
  return {
    mesh: {
      create: true,
      mtu: 1420,
      up: true,
      addAddresses: STATE.mesh?.addresses ?? [],
      removeAddresses: [],
    },
    device: {
      listenPort: 51821,
      peers: [
        { kind: "add", ...some(added) },
        { kind: "update", publicKey, allowedIPs: [], presharedKey: null },
        { kind: "remove", publicKey },
      ],
    },
    tunnel: { create: false, up: false, addAddresses: [], removeAddresses: STATE.mesh?.addresses ?? [] },
    setRoutes: [some(first)],
    removeRoutes: [some(second)],
    addRules: STATE.rules,
    removeRules: [],
    firewall: {
      kind: "elements",
      sets: [{ set: "keep_source", add: [some(parsePrefix("10.244.2.0/24"))], remove: [] }],
    },
    cni: STATE.cni,
  };
}

function nameOf(key: string): string | undefined {
  return key === KEY ? "Node b1" : undefined;
}

function ip(text: string): Address {
  return some(parseAddress(text));
}

function some<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}
