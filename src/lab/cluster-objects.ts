/** The Node and Peer objects of a scenario, as kubelets, the controller manager and an administrator would make them. Pure. */
import type { PlacedHost } from "./addressing.ts";
import type { NodeRole, PeerRole } from "./scenario.ts";

/** An object as it is sent to an API server. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** What `kubectl get nodes -o wide` shows; there is no kubelet, so nothing is claimed of one. */
const NODE_INFO = {
  architecture: "",
  bootID: "",
  containerRuntimeVersion: "none",
  kernelVersion: "the machine's",
  kubeProxyVersion: "",
  kubeletVersion: "lab",
  machineID: "",
  operatingSystem: "linux",
  osImage: "network namespace",
  systemUUID: "",
};

/**
 * A Node: host name and region labels, pod CIDR, and its addresses. The internal one is the private address, or the public one where there is
 * no other.
 */
export function nodeObject(host: PlacedHost, role: NodeRole): ApiObject {
  const internal = host.privateAddress?.split("/")[0];
  const addresses = [
    { type: "InternalIP", address: internal ?? host.publicAddress },
    ...(host.publicAddress === undefined ? [] : [{ type: "ExternalIP", address: host.publicAddress }]),
    { type: "Hostname", address: host.name },
  ];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: host.name,
      labels: {
        "kubernetes.io/hostname": host.name,
        "kubernetes.io/os": "linux",
        ...region(host),
        ...role.labels,
      },
      annotations: { ...role.annotations },
    },
    spec: { podCIDR: role.podCIDR, podCIDRs: [role.podCIDR] },
    status: {
      addresses,
      nodeInfo: NODE_INFO,
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", message: "the lab's host is up" },
      ],
    },
  };
}

/** A Peer without endpoint: it calls the mesh, never the other way round. */
export function peerObject(host: PlacedHost, role: PeerRole, publicKey: string): ApiObject {
  return {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: { name: host.name },
    spec: { allowedIPs: [...role.allowedIPs], publicKey, persistentKeepalive: role.persistentKeepalive ?? 0 },
  };
}

function region(host: PlacedHost): Record<string, string> {
  const location = host.place === undefined ? undefined : (host.place.location ?? host.place.name);
  if (location === undefined || host.place?.location === null) return {};
  return { "topology.kubernetes.io/region": location };
}
