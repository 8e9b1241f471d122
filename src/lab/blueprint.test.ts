import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeBlueprint } from "./blueprint.ts";
import { DEMO } from "./demo-scenario.ts";
import { ScenarioError } from "./errors.ts";
import type { Scenario } from "./scenario.ts";

describe("the blueprint of the demo", () => {
  const { hosts, namespaces, links } = makeBlueprint(DEMO);

  test("has the internet, a router for each place, and the hosts", () => {
    assert.deepEqual(
      namespaces.map((namespace) => `${namespace.kind} ${namespace.name}`),
      [
        "internet internet",
        "router north",
        "router south",
        "router home",
        "host north-1",
        "host north-2",
        "host south-1",
        "host south-2",
        "host home-1",
        "host api",
        "host laptop",
      ],
    );
  });

  test("gives hosts of a cloud a public and a private link, the one at home its LAN's only", () => {
    const ends = links.map(({ near, far }) => `${near.namespace}/${near.link} ${far.namespace}/${far.link}`);
    assert.deepEqual(ends.slice(0, 3), [
      "internet/home home/wan",
      "internet/north-1 north-1/eth0",
      "north/north-1 north-1/eth1",
    ]);
    assert.ok(ends.includes("home/home-1 home-1/eth0"));
    assert.equal(ends.length, 12);
  });

  test("counts private addresses from the eleventh of the LAN", () => {
    const addresses = hosts.map((host) => [host.privateAddress, host.gateway]);
    assert.deepEqual(addresses.slice(0, 2), [
      ["10.1.0.11/24", undefined],
      ["10.1.0.12/24", undefined],
    ]);
    assert.deepEqual(addresses[4], ["192.168.1.11/24", "192.168.1.1"]);
  });

  test("routes a public address to its host, and nothing else", () => {
    const uplink = links.find((link) => link.far.namespace === "laptop");
    assert.deepEqual(uplink?.near.commands, [
      "link set laptop up",
      "route replace 198.51.100.200/32 dev laptop",
    ]);
    assert.deepEqual(uplink?.far.commands, [
      "addr replace 198.51.100.200/32 dev eth0",
      "link set eth0 up",
      "route replace default via 192.0.2.1 dev eth0 onlink",
    ]);
  });
});

describe("NAT", () => {
  const place = (nat: object): Scenario => ({
    name: "nat",
    places: [
      {
        name: "home",
        lan: "192.168.1.0/24",
        nat: { address: "198.51.100.7", ...nat },
        hosts: [{ name: "h1" }, { name: "h2" }],
      },
    ],
  });
  const rules = (nat: object): string => {
    const router = makeBlueprint(place(nat)).namespaces.find((namespace) => namespace.kind === "router");
    return router?.nftables ?? "";
  };

  test("keeps ports unless they shall be random", () => {
    assert.match(rules({}), /oifname "wan" snat to 198\.51\.100\.7\n/);
    assert.match(rules({ ports: "random" }), /oifname "wan" snat to 198\.51\.100\.7 fully-random\n/);
  });

  test("forwards ports, and maps whole addresses both ways and before the rest", () => {
    const text = rules({
      forwards: [{ port: 51820, host: "h1" }],
      oneToOne: [{ address: "198.51.100.8", host: "h2" }],
    });
    assert.match(text, /ip daddr 198\.51\.100\.7 udp dport 51820 dnat to 192\.168\.1\.11\n/);
    assert.match(text, /ip daddr 198\.51\.100\.8 dnat to 192\.168\.1\.12\n/);
    assert.ok(
      text.indexOf("ip saddr 192.168.1.12 snat to 198.51.100.8") < text.indexOf("snat to 198.51.100.7"),
    );
  });

  test("routes all public addresses of a router to it", () => {
    const { links } = makeBlueprint(place({ oneToOne: [{ address: "198.51.100.8", host: "h2" }] }));
    assert.deepEqual(links[0]?.near.commands.slice(1), [
      "route replace 198.51.100.7/32 dev home",
      "route replace 198.51.100.8/32 dev home",
    ]);
  });

  test("that names a host of another place is refused", () => {
    assert.throws(() => rules({ forwards: [{ port: 1, host: "nobody" }] }), /no host nobody in it/);
  });
});

describe("a scenario is refused", () => {
  const cases: Record<string, [Scenario, RegExp]> = {
    "for a name used twice": [
      {
        name: "x",
        hosts: [
          { name: "a", public: "203.0.113.1" },
          { name: "a", public: "203.0.113.2" },
        ],
      },
      /cannot use name a: it is used twice/,
    ],
    "for a name that no link can have": [
      { name: "x", hosts: [{ name: "a-very-long-host-name", public: "203.0.113.1" }] },
      /1 to 15 characters/,
    ],
    "for an address used twice": [
      {
        name: "x",
        hosts: [
          { name: "a", public: "203.0.113.1" },
          { name: "b", public: "203.0.113.1" },
        ],
      },
      /203\.0\.113\.1: it is used twice/,
    ],
    "for a private address outside the LAN": [
      { name: "x", places: [{ name: "p", lan: "10.1.0.0/24", hosts: [{ name: "a", private: "10.2.0.1" }] }] },
      /10\.2\.0\.1 is not in 10\.1\.0\.0\/24/,
    ],
    "for a private address that is the router's": [
      { name: "x", places: [{ name: "p", lan: "10.1.0.0/24", hosts: [{ name: "a", private: "10.1.0.1" }] }] },
      /10\.1\.0\.1: it is used twice/,
    ],
    "for a host that is nowhere": [
      { name: "x", hosts: [{ name: "a" }] },
      /in no place and has no public address/,
    ],
    "for a LAN that is none": [
      { name: "x", places: [{ name: "p", lan: "10.1.0.0", hosts: [] }] },
      /lan is no IPv4 prefix/,
    ],
  };
  for (const [name, [scenario, message]] of Object.entries(cases)) {
    test(name, () => {
      assert.throws(
        () => makeBlueprint(scenario),
        (error) => error instanceof ScenarioError && message.test(error.message),
      );
    });
  }
});
