/** The Peer CRD as Kilo ships it (kilo.md §3.1): a fixture, so that these tests do not depend on the chart. */
import type { JsonMap } from "../../src/lab/apiserver/index.ts";

/** `peers.kilo.squat.ai`, cluster scope, no status, no printer columns. */
export const PEER_CRD: JsonMap = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "peers.kilo.squat.ai" },
  spec: {
    group: "kilo.squat.ai",
    names: { kind: "Peer", listKind: "PeerList", plural: "peers", singular: "peer" },
    scope: "Cluster",
    versions: [{ name: "v1alpha1", served: true, storage: true, schema: { openAPIV3Schema: peerSchema() } }],
  },
};

function peerSchema(): JsonMap {
  const text = { type: "string" };
  const endpoint = {
    type: "object",
    description: "Where the peer is reached at first.",
    properties: {
      dnsOrIP: { type: "object", properties: { dns: text, ip: text } },
      port: { type: "integer", format: "int32" },
    },
    required: ["dnsOrIP", "port"],
  };
  const spec = {
    type: "object",
    description: "What the mesh knows of the peer.",
    properties: {
      allowedIPs: { type: "array", items: text, description: "Prefixes behind the peer." },
      endpoint,
      persistentKeepalive: { type: "integer" },
      presharedKey: text,
      publicKey: text,
    },
    required: ["allowedIPs", "publicKey"],
  };
  return {
    type: "object",
    description: "Peer is a WireGuard peer that should have access to the VPN.",
    properties: { apiVersion: text, kind: text, metadata: { type: "object" }, spec },
    required: ["spec"],
  };
}
