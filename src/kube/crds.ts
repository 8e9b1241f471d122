/** The CustomResourceDefinitions that we ship, as data: the chart, the embedded API server and `kubectl apply` take them from here. */
import type { KubeObject } from "./objects.ts";

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: "Cluster" | "Namespaced";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[] | undefined;
      readonly categories?: readonly string[] | undefined;
    };
    readonly versions: readonly CustomResourceVersion[];
  };
}

export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources?: { readonly status?: Readonly<Record<string, never>> | undefined } | undefined;
  readonly additionalPrinterColumns?: readonly PrinterColumn[] | undefined;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly description?: string | undefined;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: number | undefined;
}

/** The part of OpenAPI v3 that our schemas use. */
export interface JsonSchema {
  readonly type: "object" | "array" | "string" | "integer" | "boolean";
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: JsonSchema | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
}

/**
 * Kilo's Peer (kilo.md §3.1): names, types and required fields are Kilo's, so that its agents read ours and the other way round.
 * Added: short name, columns and texts. Values are deliberately not restricted further: an object that Kilo's definition takes must stay
 * valid under ours, or a cluster that swaps the definition could not change its old Peers any more; what is wrong is said by the agent.
 */
export const PEER_CRD: CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "peers.kilo.squat.ai" },
  spec: {
    group: "kilo.squat.ai",
    scope: "Cluster",
    names: {
      kind: "Peer",
      listKind: "PeerList",
      plural: "peers",
      singular: "peer",
      shortNames: ["kp"],
    },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: "Allowed IPs", type: "string", jsonPath: ".spec.allowedIPs" },
          { name: "Public Key", type: "string", jsonPath: ".spec.publicKey" },
          { name: "Endpoint IP", type: "string", jsonPath: ".spec.endpoint.dnsOrIP.ip", priority: 1 },
          { name: "Endpoint DNS", type: "string", jsonPath: ".spec.endpoint.dnsOrIP.dns", priority: 1 },
          { name: "Port", type: "integer", jsonPath: ".spec.endpoint.port", priority: 1 },
          { name: "Keepalive", type: "integer", jsonPath: ".spec.persistentKeepalive", priority: 1 },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: { openAPIV3Schema: peerSchema() },
      },
    ],
  },
};

function peerSchema(): JsonSchema {
  return {
    type: "object",
    description: "A WireGuard peer that is no node of the cluster: a laptop, a server, another cluster.",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: {
        type: "object",
        description: "What the mesh must know of the peer.",
        required: ["allowedIPs", "publicKey"],
        properties: {
          allowedIPs: {
            type: "array",
            description:
              "Networks behind the peer, as CIDRs. The mesh routes them to it and takes packets from them.",
            items: { type: "string" },
          },
          endpoint: peerEndpointSchema(),
          persistentKeepalive: {
            type: "integer",
            description:
              "Seconds between keepalive packets that the peer sends; 0 is off. Needed behind NAT.",
          },
          presharedKey: { type: "string", description: "Optional preshared key, base64 of 32 bytes." },
          publicKey: { type: "string", description: "The peer's WireGuard public key, base64 of 32 bytes." },
        },
      },
    },
  };
}

function peerEndpointSchema(): JsonSchema {
  return {
    type: "object",
    description: "Where the peer is reached first. Without it the peer must begin.",
    required: ["dnsOrIP", "port"],
    properties: {
      dnsOrIP: {
        type: "object",
        description: "A DNS name or an IP address.",
        properties: {
          dns: { type: "string", description: "A DNS name." },
          ip: { type: "string", description: "An IPv4 or IPv6 address." },
        },
      },
      port: { type: "integer", format: "int32", description: "UDP port, 1 to 65535." },
    },
  };
}
