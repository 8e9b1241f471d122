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
 * @param now RFC 3339, when the kubelet would have looked
 */
export function nodeObject(host: PlacedHost, role: NodeRole, now: string): ApiObject {
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
      conditions: CONDITIONS.map((condition) => ({
        ...condition,
        lastHeartbeatTime: now,
        lastTransitionTime: now,
      })),
    },
  };
}

/** The conditions of a node that is well, with a kubelet's words for the reasons. */
const CONDITIONS = [
  { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory" },
  { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure" },
  { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID" },
  { type: "Ready", status: "True", reason: "KubeletReady" },
].map((condition) => ({ ...condition, message: "the lab has no kubelet; its host is up" }));

/** Seconds after which Kubernetes holds a node for dead that does not renew: a kubelet's default. */
const LEASE_SECONDS = 40;

/**
 * The lease with which a kubelet shows that its node is alive; `kubectl describe node` asks for it. It belongs into the namespace
 * `kube-node-lease`.
 * @param now RFC 3339 with microseconds
 */
export function leaseObject(node: string, now: string): ApiObject {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: node, namespace: "kube-node-lease" },
    spec: { holderIdentity: node, leaseDurationSeconds: LEASE_SECONDS, renewTime: now },
  };
}

/** A Peer without endpoint: it calls the mesh, never the other way round. */
export function peerObject(name: string, role: PeerRole, publicKey: string): ApiObject {
  return {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: { name },
    spec: { allowedIPs: [...role.allowedIPs], publicKey, persistentKeepalive: role.persistentKeepalive ?? 0 },
  };
}

function region(host: PlacedHost): Record<string, string> {
  const location = host.place === undefined ? undefined : (host.place.location ?? host.place.name);
  if (location === undefined || host.place?.location === null) return {};
  return { "topology.kubernetes.io/region": location };
}
