import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { projectNode } from "./project-node.ts";
import { projectPeer } from "./project-peer.ts";
import { sameValue } from "./same-value.ts";

describe("projection of a Node", () => {
  const project = projectNode("topology.kubernetes.io/region");

  it("keeps what the mesh reads and nothing else", () => {
    const node = {
      metadata: {
        name: "a",
        uid: "u-1",
        resourceVersion: "12",
        managedFields: [{ manager: "kubelet" }],
        labels: { "topology.kubernetes.io/region": "eu", "kubernetes.io/os": "linux" },
        annotations: {
          "kilo.squat.ai/key": "k",
          "kilo.squat.ai/leader": "",
          "kilomesh.io/agent": "1 2",
          "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
      },
      spec: { podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24", "fd00::/64"], providerID: "x" },
      status: {
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "Hostname", address: "a" },
        ],
        images: [{ names: ["big"], sizeBytes: 1 }],
      },
    };
    assert.deepEqual(project(node), {
      metadata: {
        name: "a",
        uid: "u-1",
        labels: { "topology.kubernetes.io/region": "eu" },
        annotations: { "kilo.squat.ai/key": "k", "kilo.squat.ai/leader": "", "kilomesh.io/agent": "1 2" },
      },
      spec: { podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24", "fd00::/64"] },
      status: {
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "Hostname", address: "a" },
        ],
      },
    });
  });

  it("takes a bare Node, and leaves out what has a wrong type", () => {
    const bare = project({ metadata: { name: "a" } });
    const odd = project({
      metadata: { name: "a" },
      spec: { podCIDR: 7, podCIDRs: "x" },
      status: { addresses: [null, 3, { type: "InternalIP" }] },
    });
    assert.ok(sameValue(bare, odd));
    assert.deepEqual(bare.status, { addresses: [] });
  });
});

describe("projection of a Peer", () => {
  it("keeps the spec", () => {
    const spec = {
      allowedIPs: ["10.5.0.1/32"],
      publicKey: "k",
      presharedKey: "p",
      persistentKeepalive: 10,
      endpoint: { dnsOrIP: { dns: "example.com", ip: undefined }, ip: undefined, port: 51820 },
    };
    assert.deepEqual(projectPeer({ metadata: { name: "laptop", uid: "u" }, spec }), {
      metadata: { name: "laptop", uid: "u" },
      spec,
    });
  });

  it("K-89: the older endpoint {ip, port} is kept as it is", () => {
    const peer = projectPeer({ metadata: { name: "old" }, spec: { endpoint: { ip: "1.2.3.4", port: 1 } } });
    assert.deepEqual(peer.spec?.endpoint, { dnsOrIP: undefined, ip: "1.2.3.4", port: 1 });
  });

  it("an object of wrong types harms nobody", () => {
    const peer = projectPeer({
      metadata: { name: "odd" },
      spec: { allowedIPs: [1, "a"], publicKey: {}, endpoint: 5 },
    });
    assert.deepEqual(peer.spec?.allowedIPs, ["a"]);
    assert.equal(peer.spec?.publicKey, undefined);
    assert.equal(projectPeer({ metadata: { name: "odd" } }).spec?.allowedIPs, undefined);
  });
});

describe("equality of projections", () => {
  it("looks at values, not at order of keys or absent fields", () => {
    assert.ok(sameValue({ a: 1, b: [{ c: "x" }] }, { b: [{ c: "x" }], a: 1, d: undefined }));
    assert.ok(!sameValue({ a: 1 }, { a: "1" }));
    assert.ok(!sameValue([1, 2], [2, 1]));
    assert.ok(!sameValue([], {}));
    assert.ok(!sameValue({ a: null }, {}));
    assert.ok(!sameValue({ toString: undefined, a: 1 }, { a: 2 }));
  });
});
