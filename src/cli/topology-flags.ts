/** The flags that must be the same on every agent of a mesh (kilo.md §0, item 10). `kg` and `kg plan` share them. */
import { makePrefix, type Prefix, parseAddress } from "../ip/index.ts";
import type { Compatibility, Encapsulation, Granularity, MeshOptions } from "../mesh/index.ts";
import {
  autoNumberFlag,
  choiceFlag,
  numberFlag,
  prefixesFlag,
  prefixFlag,
  switchFlag,
  textFlag,
} from "./flag-kinds.ts";
import type { FlagValues } from "./flags.ts";

/** Kilo's names and defaults (kilo.md §1.1), and `--route-internal-ip` of ours (report K-45). */
export const TOPOLOGY_FLAGS = {
  subnet: prefixFlag({
    name: "subnet",
    initial: defaultSubnet(),
    help: "pool of tunnel addresses",
  }),
  granularity: choiceFlag<Granularity>({
    name: "mesh-granularity",
    words: ["location", "full", "cross"],
    initial: "location",
    help: "who gets tunnels: one leader per location, every node, or every node to other locations only",
  }),
  encapsulate: choiceFlag<Encapsulation>({
    name: "encapsulate",
    words: ["never", "crosssubnet", "always"],
    initial: "always",
    help: "when packets inside a location are encapsulated",
  }),
  compatibility: choiceFlag<Compatibility | "">({
    name: "compatibility",
    words: ["", "flannel", "cilium"],
    initial: "",
    help: "whose overlay carries packets inside a location",
  }),
  local: switchFlag({ name: "local", initial: true, help: "manage routes inside the own location" }),
  topologyLabel: textFlag({
    name: "topology-label",
    value: "LABEL",
    initial: "topology.kubernetes.io/region",
    help: "node label that names the location",
  }),
  port: numberFlag({
    name: "port",
    value: "PORT",
    initial: 51820,
    least: 1,
    most: 65535,
    help: "UDP port of endpoints that this host publishes",
  }),
  serviceCIDRs: prefixesFlag({
    name: "service-cidr",
    help: "destinations that are not masqueraded besides the mesh's own",
  }),
  cni: switchFlag({ name: "cni", initial: true, help: "manage the CNI file, and masquerade own pods" }),
  // 1280 is what IPv6 needs (RFC 8200 §5); 65535 is the longest IP packet.
  mtu: autoNumberFlag({
    name: "mtu",
    value: "BYTES",
    least: 1280,
    most: 65535,
    help: "MTU of the WireGuard link and of pods",
  }),
  routeInternalIP: switchFlag({
    name: "route-internal-ip",
    initial: true,
    help: "route internal IPs of other locations through the mesh",
  }),
} as const;

/** The options of the mesh that the flags stand for. */
export function meshOptions(values: FlagValues<typeof TOPOLOGY_FLAGS>): MeshOptions {
  return {
    subnet: values.subnet,
    granularity: values.granularity,
    encapsulate: values.encapsulate,
    compatibility: values.compatibility === "" ? "none" : values.compatibility,
    local: values.local,
    topologyLabel: values.topologyLabel,
    port: values.port,
    serviceCIDRs: values.serviceCIDRs,
    cni: values.cni,
    routeInternalIP: values.routeInternalIP,
  };
}

function defaultSubnet(): Prefix {
  const base = parseAddress("10.4.0.0");
  if (base === undefined) throw new RangeError("cannot read the default subnet");
  return makePrefix(base, 16);
}
