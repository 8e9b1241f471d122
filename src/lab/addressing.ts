/** Where every host of a scenario stands and which addresses it has. Pure. */
import { addressAt, containsAddress, type Prefix, parseAddress, parsePrefix } from "../ip/index.ts";
import { ScenarioError } from "./errors.ts";
import type { HostSpec, Place, Scenario } from "./scenario.ts";

/** A host with all that the scenario left to be worked out. */
export interface PlacedHost {
  readonly name: string;
  readonly spec: HostSpec;
  readonly place: Place | undefined;
  readonly publicAddress: string | undefined;
  /** Address and length in the LAN, e.g. `10.1.0.11/24`. */
  readonly privateAddress: string | undefined;
  /** The router of the LAN, where that is the way to the internet. */
  readonly gateway: string | undefined;
}

/** Hosts count from here in their LAN, so that they are told from routers at a glance. */
const FIRST_HOST_OFFSET = 11;

/**
 * Places all hosts of a scenario, in its order.
 * @throws ScenarioError when a name or address is used twice, is malformed, or lies outside its LAN
 */
export function placeHosts(scenario: Scenario): PlacedHost[] {
  const places = scenario.places ?? [];
  const inPlaces = places.flatMap((place) => placeInLan(place));
  const onInternet = (scenario.hosts ?? []).map((spec) => placeOnInternet(spec));
  const hosts = [...inPlaces, ...onInternet];

  checkNames([...places.map((place) => place.name), ...hosts.map((host) => host.name)]);
  const publicAddresses = [
    ...hosts.map((host) => host.publicAddress),
    ...places.flatMap((place) => natAddresses(place)),
  ];
  checkAddresses(publicAddresses.filter((address) => address !== undefined));
  if (hosts.filter((host) => host.spec.role?.kind === "control-plane").length > 1) {
    throw new ScenarioError(`cannot build scenario ${scenario.name}: more than one control plane`);
  }
  return hosts;
}

/** The LAN of a place, parsed. */
export function lanOf(place: Place): Prefix {
  const lan = parsePrefix(place.lan);
  if (lan === undefined || lan.family !== 4 || lan.length < 16 || lan.length > 27) {
    throw new ScenarioError(
      `cannot build place ${place.name}: lan is no IPv4 prefix of /16 to /27 (${place.lan})`,
    );
  }
  return lan;
}

/** Address of the router in its LAN: the first one. */
export function routerAddress(place: Place): string {
  return addressText(lanOf(place), 1, place.name);
}

/** Public addresses that lead to a place's router. */
export function natAddresses(place: Place): string[] {
  if (place.nat === undefined) return [];
  return [place.nat.address, ...(place.nat.oneToOne ?? []).map((mapping) => mapping.address)];
}

function placeInLan(place: Place): PlacedHost[] {
  const lan = lanOf(place);
  const router = routerAddress(place);
  const taken = new Set(place.hosts.map((spec) => spec.private).filter((address) => address !== undefined));
  checkAddresses([
    router,
    ...place.hosts.map((spec) => spec.private).filter((address) => address !== undefined),
  ]);
  let offset = FIRST_HOST_OFFSET;

  const nextFree = (name: string): string => {
    for (;;) {
      const address = addressText(lan, offset, name);
      offset += 1;
      if (!taken.has(address)) return address;
    }
  };

  return place.hosts.map((spec) => {
    const address = spec.private ?? nextFree(spec.name);
    const parsed = parseAddress(address);
    if (parsed === undefined || !containsAddress(lan, parsed)) {
      throw new ScenarioError(`cannot place host ${spec.name}: ${address} is not in ${lan.text}`);
    }
    return {
      name: spec.name,
      spec,
      place,
      publicAddress: spec.public,
      privateAddress: `${address}/${lan.length}`,
      gateway: spec.public === undefined && place.nat !== undefined ? router : undefined,
    };
  });
}

function placeOnInternet(spec: HostSpec): PlacedHost {
  if (spec.public === undefined) {
    throw new ScenarioError(`cannot place host ${spec.name}: it is in no place and has no public address`);
  }
  return {
    name: spec.name,
    spec,
    place: undefined,
    publicAddress: spec.public,
    privateAddress: undefined,
    gateway: undefined,
  };
}

function addressText(lan: Prefix, offset: number, name: string): string {
  const address = addressAt(lan, offset);
  if (address === undefined) throw new ScenarioError(`cannot place ${name}: ${lan.text} is full`);
  return address.text;
}

function checkNames(names: readonly string[]): void {
  const seen = new Set(["internet", "lan", "wan", "lo"]);
  for (const name of names) {
    if (!/^[a-z][a-z0-9-]{0,14}$/.test(name)) {
      throw new ScenarioError(`cannot use name ${name}: 1 to 15 characters of a-z, 0-9 and dash are allowed`);
    }
    if (seen.has(name)) throw new ScenarioError(`cannot use name ${name}: it is used twice`);
    seen.add(name);
  }
}

function checkAddresses(addresses: readonly string[]): void {
  const seen = new Set<string>();
  for (const address of addresses) {
    if (parseAddress(address)?.family !== 4) {
      throw new ScenarioError(`cannot use address ${address}: not an IPv4 address`);
    }
    if (seen.has(address)) throw new ScenarioError(`cannot use address ${address}: it is used twice`);
    seen.add(address);
  }
}
