import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { InputError } from "../errors.ts";
import { loadObjects } from "./index.ts";

const NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a1}\n";
const PEER = "apiVersion: kilo.squat.ai/v1alpha1\nkind: Peer\nmetadata: {name: lap}\n";

describe("objects", () => {
  it("are read from YAML documents, JSON, lists and several files", async () => {
    const { nodes, peers, ignored } = await load({
      "a.yaml": `---\n${NODE}---\n---\n${PEER}---\napiVersion: v1\nkind: Pod\n`,
      "b.json": JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "a2" } }),
      "c.json": JSON.stringify({
        apiVersion: "v1",
        kind: "List",
        items: [{ apiVersion: "v1", kind: "Node", metadata: { name: "a3" } }],
      }),
      "d.yaml": "apiVersion: v1\nkind: NodeList\nitems: [{metadata: {name: a4}}]\n",
      "-": "apiVersion: kilo.squat.ai/v1alpha1\nkind: PeerList\nitems: [{metadata: {name: p2}}]\n",
    });
    assert.deepEqual(names(nodes), ["a1", "a2", "a3", "a4"]);
    assert.deepEqual(names(peers), ["lap", "p2"]);
    assert.deepEqual([...ignored], [["Pod", 1]]);
  });

  it("JSON objects one after another are read like documents", async () => {
    const text =
      '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}\n---\n{"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}';
    assert.deepEqual(names((await load({ f: text })).nodes), ["a", "b"]);
  });

  it("a Node or Peer of somebody else's group is left out", async () => {
    const { peers, ignored } = await load({ f: `${NODE}---\napiVersion: example.com/v1\nkind: Peer\n` });
    assert.equal(peers.length, 0);
    assert.deepEqual([...ignored.keys()], ["Peer.example.com/v1"]);
  });

  it("K-89: both shapes of a Peer's endpoint arrive as they are", async () => {
    const old = `${PEER}spec: {endpoint: {ip: 1.2.3.4, port: 51820}}\n`;
    const { peers } = await load({ f: old });
    assert.deepEqual(peers[0]?.spec?.endpoint, { dnsOrIP: undefined, ip: "1.2.3.4", port: 51820 });
  });

  it("a mistake beside a preshared key does not print it", async () => {
    const psk = "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=";
    const mistakes = [
      `spec:\n  presharedKey: ${psk}\n  allowedIPs: [10.5.0.1/32\n`,
      `spec:\n  presharedKey: ${psk}\n\tendpoint: {}\n`,
      `spec:\n  presharedKey: ${psk}\n  presharedKey: ${psk}\n`,
      `spec:\n  presharedKey: "${psk}\n`,
      `spec:\n  presharedKey: ${psk}: x\n`,
      `spec:\n  presharedKey: *${psk}\n`,
      `spec:\n  presharedKey: !${psk} x\n`,
      `spec:\n  presharedKey: !${psk}!x y\n`,
      `spec:\n  presharedKey: [${psk}]\n`,
      `spec:\n  presharedKey: {${psk}: 1}\n`,
      `spec: ${psk}\n`,
      `spec: {presharedKey: 1234567890123456}\n`,
    ];
    for (const mistake of mistakes) {
      await assert.rejects(load({ f: `${PEER}${mistake}` }), (error) => {
        assert.ok(error instanceof InputError, mistake);
        assert.doesNotMatch(inspect(error, { depth: 9 }), /CAgICAgI|1234567890/, mistake);
        return true;
      });
    }
  });

  it("what cannot be used is named with file, document and field", async () => {
    const table: [string, RegExp][] = [
      ["", /cannot use f: no objects in it/],
      ["a: [", /cannot read f, line \d+: not YAML or JSON: /],
      ["a: 1\na: 2", /cannot read f, line \d+: not YAML or JSON: /],
      ["- 1", /cannot read f document 1: not an object with fields \(a list\)/],
      ["just text", /cannot read f document 1: not an object with fields \(string\)/],
      [`${NODE}---\nkind: Node\n`, /cannot use f document 2: apiVersion is missing/],
      ["apiVersion: v1", /cannot use f document 1: kind is missing/],
      ["apiVersion: v1\nkind: List\nitems: 3", /f document 1: items of a List must be a list \(number\)/],
      ["apiVersion: v1\nkind: List\nitems: [3]", /f document 1 item 1: not an object/],
      [
        "apiVersion: v1\nkind: List\nitems: [{kind: List, items: []}]",
        /f document 1 item 1: a list inside a list/,
      ],
      ["apiVersion: v1\nkind: Node", /f document 1 \(Node without name\): metadata.name is missing/],
      [`${NODE}---\n${NODE}`, /cannot use f document 2: Node a1 stands in f document 1 already/],
      [
        "apiVersion: v1\nkind: Node\nmetadata: {name: a, annotations: {x/keep: 10}}",
        /\(Node a\): metadata.annotations\["x\/keep"\] must be a string, not a number \(10\): put it in quotes/,
      ],
      [`${NODE}spec: {podCIDR: [1]}`, /\(Node a1\): spec.podCIDR must be a string, not a list/],
      [`${NODE}spec: [1]`, /\(Node a1\): spec must have fields, not be a list/],
      [`${PEER}spec: {allowedIPs: 10.0.0.0/8}`, /\(Peer lap\): spec.allowedIPs must be a list, not a string/],
      [`${PEER}spec: {allowedIPs: [10]}`, /\(Peer lap\): spec.allowedIPs\[0\] must be a string/],
      [
        `${PEER}spec: {endpoint: {port: 1.5}}`,
        /spec.endpoint.port must be a whole number, not a number \(1.5\)/,
      ],
      [
        `${PEER}spec: {persistentKeepalive: "25"}`,
        /spec.persistentKeepalive must be a whole number, not a string/,
      ],
    ];
    for (const [text, message] of table) {
      await assert.rejects(load({ f: text }), (error) => {
        assert.ok(error instanceof InputError, text);
        assert.match(error.message, message);
        return true;
      });
    }
  });
});

function load(files: Readonly<Record<string, string>>) {
  return loadObjects(Object.keys(files), {
    stdout: () => {},
    stderr: () => {},
    hostname: () => "",
    read: async (path) => files[path] ?? "",
  });
}

function names(objects: readonly { readonly metadata: { readonly name: string } }[]): string[] {
  return objects.map(({ metadata }) => metadata.name);
}
