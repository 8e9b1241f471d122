import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JsonSchema, PEER_CRD } from "./crds.ts";
import { PEERS } from "./resources.ts";

describe("the Peer CRD", () => {
  const version = PEER_CRD.spec.versions[0];
  const root = version?.schema.openAPIV3Schema;

  it("has Kilo's names, scope and version, without sub-resources (kilo.md §3.1)", () => {
    const { group, scope, names } = PEER_CRD.spec;
    assert.equal(PEER_CRD.metadata.name, "peers.kilo.squat.ai");
    assert.deepEqual(
      [group, scope, names.kind, names.listKind, names.plural, names.singular],
      ["kilo.squat.ai", "Cluster", "Peer", "PeerList", "peers", "peer"],
    );
    assert.equal(PEER_CRD.spec.versions.length, 1);
    assert.deepEqual([version?.name, version?.served, version?.storage], ["v1alpha1", true, true]);
    assert.equal(version?.subresources, undefined);
    assert.deepEqual([PEERS.group, PEERS.plural, PEERS.kind], [group, names.plural, names.kind]);
  });

  it("takes exactly what Kilo's takes: the same fields, types and required ones, no value refused besides", () => {
    const spec = root?.properties?.spec;
    assert.deepEqual(fieldsOf(root, ["spec"]), { spec: "object!" });
    assert.deepEqual(fieldsOf(spec), {
      allowedIPs: "array!",
      publicKey: "string!",
      endpoint: "object",
      persistentKeepalive: "integer",
      presharedKey: "string",
    });
    assert.equal(spec?.properties?.allowedIPs?.items?.type, "string");
    const endpoint = spec?.properties?.endpoint;
    assert.deepEqual(fieldsOf(endpoint), { dnsOrIP: "object!", port: "integer!" });
    assert.equal(endpoint?.properties?.port?.format, "int32");
    assert.deepEqual(fieldsOf(endpoint?.properties?.dnsOrIP), { dns: "string", ip: "string" });
    assert.doesNotMatch(JSON.stringify(root), /"(minimum|maximum|pattern|maxItems|maxLength|enum)"/);
  });
});

/** Field → type, with `!` where it is required. */
function fieldsOf(schema: JsonSchema | undefined, only?: readonly string[]): Record<string, string> {
  const entries = Object.entries(schema?.properties ?? {}).filter(([name]) => only?.includes(name) ?? true);
  return Object.fromEntries(
    entries.map(([name, field]) => [name, field.type + (schema?.required?.includes(name) ? "!" : "")]),
  );
}
