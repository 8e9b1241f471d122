/** What is kept of a Peer: its spec, in both shapes of the endpoint (src/mesh, PeerObject; report K-89). */
import type { PeerObject } from "../mesh/index.ts";
import { type Fields, fieldsOf } from "./fields.ts";
import type { RawObject } from "./objects.ts";

type PeerSpec = NonNullable<PeerObject["spec"]>;
type PeerEndpoint = NonNullable<PeerSpec["endpoint"]>;

/** The projection of Peers. A field of a wrong type (a CRD without schema lets it in) is left out, never passed on. */
export function projectPeer(raw: RawObject): PeerObject {
  return {
    metadata: { name: raw.metadata.name, uid: raw.metadata.uid },
    spec: peerSpec(fieldsOf(raw.spec)),
  };
}

function peerSpec(spec: Fields): PeerSpec {
  const { allowedIPs, endpoint, publicKey, presharedKey, persistentKeepalive } = spec;
  return {
    allowedIPs: Array.isArray(allowedIPs) ? allowedIPs.filter((text) => typeof text === "string") : undefined,
    publicKey: stringOf(publicKey),
    presharedKey: stringOf(presharedKey),
    persistentKeepalive: numberOf(persistentKeepalive),
    endpoint: endpoint === undefined || endpoint === null ? undefined : peerEndpoint(fieldsOf(endpoint)),
  };
}

function peerEndpoint({ dnsOrIP, ip, port }: Fields): PeerEndpoint {
  const either = fieldsOf(dnsOrIP);
  return {
    dnsOrIP:
      dnsOrIP === undefined || dnsOrIP === null
        ? undefined
        : { dns: stringOf(either.dns), ip: stringOf(either.ip) },
    ip: stringOf(ip),
    port: numberOf(port),
  };
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
