/** Which of a host's addresses others use (kilo.md §4, reports K-24 to K-31). */
import {
  type Address,
  compareAddresses,
  containsAddress,
  type InterfaceAddress,
  isLocal,
  isPublic,
  type Prefix,
} from "../../ip/index.ts";

/** A link as discovery looks at it. */
export interface DiscoveryLink {
  readonly name: string;
  /** rtnetlink's kind, e.g. `wireguard`, `bridge`; undefined for physical links. */
  readonly kind?: string | undefined;
  readonly up: boolean;
  readonly loopback: boolean;
  readonly addresses: readonly InterfaceAddress[];
}

export interface DiscoveryFacts {
  readonly links: readonly DiscoveryLink[];
  /** The link of the default route; undefined when there is none. */
  readonly defaultRoute?: { readonly link: string } | undefined;
  /** What the host's own name resolves to. @default [] */
  readonly hostnameAddresses?: readonly Address[] | undefined;
  /** `InternalIP` addresses of the own Node's status. @default [] */
  readonly nodeInternalIPs?: readonly Address[] | undefined;
  /** What the own Node announces already: kept while it is one of the candidates, so that a restart moves nothing. */
  readonly announced?:
    | { readonly endpoint?: Address | undefined; readonly internalIP?: Address | undefined }
    | undefined;
}

export interface DiscoveryOptions {
  /** Private candidates must lie in one of these. Empty: any may. @default [] */
  readonly internalCIDRs?: readonly Prefix[] | undefined;
  /** Announce the internal IP as endpoint, where there is one. @default false */
  readonly prioritisePrivateAddresses?: boolean | undefined;
}

export interface DiscoveredAddresses {
  /** With the length of its network. Undefined: the host has no address that only its location reaches. */
  readonly internalIP?: InterfaceAddress | undefined;
  /** The link that carries the internal IP: the one with the role `private`. */
  readonly privateLink?: string | undefined;
  /** The address at which others contact the host. Undefined when it has no usable address at all. */
  readonly external?: Address | undefined;
}

/** Links that carry other networks, not the host's own, by rtnetlink's kind (report K-27). */
const FOREIGN_KINDS: ReadonlySet<string> = new Set([
  "wireguard",
  "dummy",
  "bridge",
  "tun",
  "ipip",
  "sit",
  "gre",
  "ip6tnl",
  "vxlan",
  "geneve",
]);

/** The same, where only the name tells (reports K-27, K-28): a veth of a pod is named so, one of a container host is called `eth0`. */
const FOREIGN_NAMES =
  /^(docker|br-|veth|cni|cilium|lxc|flannel|cali|kube-|virbr|tun|tap|wg|kilo|nodelocaldns|dummy)/;

/**
 * Chooses by tiers: what the node announces already; `InternalIP` of the Node (K-26); what the hostname resolves to; the link of the
 * default route; all other links. Within a tier IPv4 first, then by number. Only addresses that stand on a link that is up and the host's own.
 */
export function discoverAddresses(
  facts: DiscoveryFacts,
  options: DiscoveryOptions = {},
): DiscoveredAddresses {
  const candidates = candidatesOf(facts);
  const { endpoint, internalIP } = facts.announced ?? {};
  const hints = [facts.nodeInternalIPs ?? [], facts.hostnameAddresses ?? []].flatMap(byNumber);
  const isInternal = privateJudge(options.internalCIDRs ?? []);

  const internal = firstOf(candidates, [internalIP, ...hints], isInternal);
  const publicOne = firstOf(candidates, [endpoint, ...hints], ({ address }) => isPublic(address));
  const isPrivateFirst = options.prioritisePrivateAddresses === true;
  const external = isPrivateFirst ? (internal ?? publicOne) : (publicOne ?? internal);
  return { internalIP: internal?.on, privateLink: internal?.link, external: external?.address };
}

interface Candidate {
  readonly address: Address;
  readonly on: InterfaceAddress;
  readonly link: string;
}

/** The default route's link first, then the others in order of their addresses. */
function candidatesOf({ links, defaultRoute }: DiscoveryFacts): Candidate[] {
  const usable = links.filter((link) => isOwnLink(link, defaultRoute?.link));
  const all = usable.flatMap(({ name, addresses }) => {
    return addresses.map((on): Candidate => ({ address: on.address, on, link: name }));
  });
  const reachable = all.filter(({ address }) => !isLocal(address));
  const rank = ({ link }: Candidate) => (link === defaultRoute?.link ? 0 : 1);
  return reachable.sort((a, b) => rank(a) - rank(b) || compareAddresses(a.address, b.address));
}

/** The link of the default route is the host's own, whatever its kind or name: people bridge their uplink. */
function isOwnLink({ name, kind, up, loopback }: DiscoveryLink, defaultLink: string | undefined): boolean {
  if (!up || loopback || kind === "wireguard") return false;
  return name === defaultLink || !(FOREIGN_NAMES.test(name) || FOREIGN_KINDS.has(kind ?? ""));
}

function firstOf(
  candidates: readonly Candidate[],
  preferred: readonly (Address | undefined)[],
  isWanted: (candidate: Candidate) => boolean,
): Candidate | undefined {
  const wanted = candidates.filter(isWanted);
  const hinted = preferred.flatMap((hint) => wanted.find(({ address }) => address.text === hint?.text) ?? []);
  return hinted[0] ?? wanted[0];
}

function privateJudge(internalCIDRs: readonly Prefix[]): (candidate: Candidate) => boolean {
  return ({ address }) => {
    if (isPublic(address)) return false;
    return internalCIDRs.length === 0 || internalCIDRs.some((prefix) => containsAddress(prefix, address));
  };
}

function byNumber(addresses: readonly Address[]): Address[] {
  return [...addresses].sort(compareAddresses);
}
