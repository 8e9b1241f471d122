/** Documents into the Node and Peer objects that `mesh` reads: only the fields it uses, each of the right type. */
import type { NodeObject, PeerObject } from "../../mesh/index.ts";
import { Field } from "./fields.ts";

/** @throws InputError naming place and field */
export function toNode(place: string, value: unknown): NodeObject {
  const node = new Field(place, "", value);
  const metadata = node.child("metadata");
  const spec = node.child("spec");
  const addresses = node.child("status").child("addresses").elements();
  return {
    metadata: {
      name: metadata.child("name").requiredText(),
      uid: metadata.child("uid").text(),
      labels: metadata.child("labels").textMap(),
      annotations: metadata.child("annotations").textMap(),
    },
    spec: { podCIDR: spec.child("podCIDR").text(), podCIDRs: spec.child("podCIDRs").texts() },
    status: {
      addresses: addresses?.map((address) => ({
        type: address.child("type").requiredText(),
        address: address.child("address").requiredText(),
      })),
    },
  };
}

/** @throws InputError naming place and field */
export function toPeer(place: string, value: unknown): PeerObject {
  const peer = new Field(place, "", value);
  const metadata = peer.child("metadata");
  const spec = peer.child("spec");
  return {
    metadata: { name: metadata.child("name").requiredText(), uid: metadata.child("uid").text() },
    spec: {
      allowedIPs: spec.child("allowedIPs").texts(),
      publicKey: spec.child("publicKey").text(),
      endpoint: toEndpoint(spec.child("endpoint")),
      persistentKeepalive: spec.child("persistentKeepalive").integer(),
      presharedKey: spec.child("presharedKey").text(),
    },
  };
}

function toEndpoint(endpoint: Field): NonNullable<PeerObject["spec"]>["endpoint"] {
  if (endpoint.isAbsent) return undefined;
  const dnsOrIP = endpoint.child("dnsOrIP");
  return {
    dnsOrIP: dnsOrIP.isAbsent
      ? undefined
      : { dns: dnsOrIP.child("dns").text(), ip: dnsOrIP.child("ip").text() },
    ip: endpoint.child("ip").text(),
    port: endpoint.child("port").integer(),
  };
}
