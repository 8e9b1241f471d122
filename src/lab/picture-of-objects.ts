/** A picture's data from Node and Peer objects, as agents have annotated them. Pure. */
import { hostPrefix, parseInterfaceAddress } from "../ip/index.ts";
import type { ApiObject } from "./cluster-objects.ts";
import type { Picture, PictureNode, PicturePeer, PictureSegment } from "./picture.ts";

const ANNOTATION = "kilo.squat.ai/";
const REGION = "topology.kubernetes.io/region";

interface AnnotatedNode {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec?: { readonly podCIDR?: string | undefined } | undefined;
}

/** Reads what the agents published: location, tunnel address (leaders have one), endpoint. Sorted by name. */
export function pictureOf(objects: readonly ApiObject[], subnet: string): Picture {
  const nodes = objects.filter((object) => object.kind === "Node") as unknown as AnnotatedNode[];
  const bySegment = new Map<string, PictureNode[]>();
  for (const node of [...nodes].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const segment = segmentOf(node);
    bySegment.set(segment, [...(bySegment.get(segment) ?? []), pictureNode(node, objects)]);
  }
  const segments: PictureSegment[] = [...bySegment].map(([name, members]) => ({ name, nodes: members }));
  const peers = objects.filter((object) => object.kind === "Peer").map(picturePeer);
  return { subnet, segments: segments.sort((a, b) => (a.name < b.name ? -1 : 1)), peers };
}

function segmentOf(node: AnnotatedNode): string {
  const { name, labels, annotations } = node.metadata;
  return annotations?.[`${ANNOTATION}location`] ?? labels?.[REGION] ?? name;
}

function pictureNode(node: AnnotatedNode, objects: readonly ApiObject[]): PictureNode {
  const annotations = node.metadata.annotations ?? {};
  const tunnel = annotations[`${ANNOTATION}wireguard-ip`];
  const parsed = tunnel === undefined ? undefined : parseInterfaceAddress(tunnel);
  const key = annotations[`${ANNOTATION}key`];
  return {
    name: node.metadata.name,
    podCIDR: node.spec?.podCIDR,
    tunnelIP: parsed === undefined ? undefined : hostPrefix(parsed.address).base.text,
    endpoint: learnedEndpoint(key, objects) ?? annotations[`${ANNOTATION}endpoint`],
  };
}

/** What other nodes' WireGuard learned of a node (kilo.md §5.8); that is where a node behind NAT really is. */
function learnedEndpoint(key: string | undefined, objects: readonly ApiObject[]): string | undefined {
  if (key === undefined) return undefined;
  for (const object of objects) {
    const annotations = (object.metadata as AnnotatedNode["metadata"]).annotations ?? {};
    const text = annotations[`${ANNOTATION}discovered-endpoints`];
    if (text === undefined || text === "") continue;
    const found = (JSON.parse(text) as Record<string, { IP?: string; Port?: number }>)[key];
    if (found?.IP !== undefined) return `${found.IP}:${found.Port} (NAT)`;
  }
  return undefined;
}

function picturePeer(object: ApiObject): PicturePeer {
  const spec = object.spec as { allowedIPs?: readonly string[] } | undefined;
  return { name: object.metadata.name, allowedIPs: spec?.allowedIPs ?? [] };
}
