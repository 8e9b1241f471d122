import assert from "node:assert/strict";
import { test } from "node:test";
import { applyToFirewall, type LinkRole } from "../../mesh/index.ts";
import { firewallWith, prefixList } from "./compliance.test-kit.ts";
import { renderElements, renderTable } from "./render.ts";

const nameOf = (role: LinkRole): string | undefined =>
  ({ mesh: "kilo0", private: "eth0", tunnel: undefined })[role];

/** Without the digests, which only tell versions of a rule apart. */
function text(rendered: string): string[] {
  return rendered.replaceAll(/ \[[0-9a-f]{8}\]/g, "").split("\n");
}

test("golden: the whole table", () => {
  const firewall = firewallWith(
    {
      masquerade_from: ["10.2.0.0/24"],
      keep_source: ["10.4.0.0/16", "10.2.0.0/16"],
      location_ips: ["10.0.1.0/24"],
      location_nodes: ["10.0.1.1/32"],
      remote_internal: ["10.1.0.7/32"],
    },
    "mesh",
  );
  assert.deepEqual(text(renderTable(firewall, nameOf)), [
    "add table inet kilomesh",
    "delete table inet kilomesh",
    "table inet kilomesh {",
    ...set("masquerade_from4", "ipv4", "10.2.0.0/24"),
    ...set("masquerade_from6", "ipv6"),
    ...set("keep_source4", "ipv4", "10.2.0.0/16, 10.4.0.0/16"),
    ...set("keep_source6", "ipv6"),
    ...set("location_ips4", "ipv4", "10.0.1.0/24"),
    ...set("location_ips6", "ipv6"),
    ...set("location_nodes4", "ipv4", "10.0.1.1/32"),
    ...set("location_nodes6", "ipv6"),
    ...set("remote_internal4", "ipv4", "10.1.0.7/32"),
    ...set("remote_internal6", "ipv6"),
    "  chain postrouting {",
    "    type nat hook postrouting priority 100; policy accept;",
    '    ip daddr @keep_source4 return comment "kilomesh: known destinations see the true source"',
    '    ip saddr @masquerade_from4 masquerade fully-random comment "kilomesh: own pods and peers to the outside"',
    '    ip daddr @location_ips4 ip saddr != @location_nodes4 fib saddr . oif type != local masquerade fully-random comment "kilomesh: others to this location"',
    "  }",
    "  chain forward {",
    "    type filter hook forward priority 0; policy accept;",
    '    ip daddr @remote_internal4 oifname != "kilo0" counter drop comment "kilomesh: never in clear to other locations"',
    "  }",
    "}",
    "",
  ]);
});

function set(name: string, type: string, elements?: string): string[] {
  const list = elements === undefined ? [] : [`    elements = { ${elements} }`];
  return [`  set ${name} {`, `    type ${type}_addr`, "    flags interval", ...list, "  }"];
}

test("the number of lines does not depend on the size of the mesh (S-14)", () => {
  const many = Array.from({ length: 500 }, (_, index) => `10.${index >> 4}.${(index & 15) * 16}.0/24`);
  const lines = (texts: string[]) =>
    text(renderTable(firewallWith({ keep_source: texts }, "mesh"), nameOf)).length;
  assert.equal(lines(many), lines(["10.0.0.0/8"]));
});

test("IPv6 has rules only while a set holds an IPv6 prefix (K-93)", () => {
  const rules = (texts: string[]) =>
    text(renderTable(firewallWith({ keep_source: texts }, "mesh"), nameOf)).filter((line) =>
      line.includes("ip6 "),
    );
  assert.equal(rules(["10.0.0.0/8"]).length, 0);
  assert.equal(rules(["10.0.0.0/8", "fd00::/8"]).length, 4);
});

test("no guard: no chain for it; a role without link: nothing passes", () => {
  const guard = (role?: LinkRole) =>
    text(renderTable(firewallWith({}, role), nameOf)).filter((line) => line.includes("remote_internal4 "));
  assert.deepEqual(
    guard().filter((line) => line.includes("drop")),
    [],
  );
  assert.ok(guard("private").some((line) => line.includes('oifname != "eth0" counter drop')));
  assert.ok(guard("tunnel").some((line) => line.includes("@remote_internal4 counter drop")));
});

test("element changes are one text, removals first", () => {
  const changes = [
    {
      set: "keep_source" as const,
      add: prefixList(["10.0.0.0/23", "fd00::/64"]),
      remove: prefixList(["10.0.0.0/24"]),
    },
    { set: "location_ips" as const, add: [], remove: prefixList(["10.9.0.0/24"]) },
  ];
  assert.deepEqual(renderElements(changes).split("\n"), [
    "delete element inet kilomesh keep_source4 { 10.0.0.0/24 }",
    "delete element inet kilomesh location_ips4 { 10.9.0.0/24 }",
    "add element inet kilomesh keep_source4 { 10.0.0.0/23 }",
    "add element inet kilomesh keep_source6 { fd00::/64 }",
    "",
  ]);
  const before = firewallWith({ keep_source: ["10.0.0.0/24"], location_ips: ["10.9.0.0/24"] }, "mesh");
  assert.deepEqual(
    applyToFirewall(before, changes),
    firewallWith({ keep_source: ["10.0.0.0/23", "fd00::/64"] }, "mesh"),
  );
});
