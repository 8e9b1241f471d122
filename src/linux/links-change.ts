/** Changes of a link with a role: its MTU, addresses and state, in an order that loses neither routes nor packets. */
import type { LinkChange } from "../mesh/index.ts";
import { failureOf, refusal } from "./host-failure.ts";
import { type Link, mtuRequest, promoteSecondariesRequest, upRequest } from "./links.ts";
import { addAddressRequest, removeAddressRequest } from "./links-addresses.ts";
import { LinksByRole } from "./links-by-role.ts";
import { isNetlinkError, type NetlinkRequest, type NetlinkSocket } from "./netlink/index.ts";
import type { ApplyFailure, LinkNames } from "./ports.ts";

/** One link, its change, and where failures go. */
export interface LinkJob {
  readonly socket: NetlinkSocket;
  readonly role: "mesh" | "tunnel";
  readonly change: LinkChange;
  readonly failures: ApplyFailure[];
  /** Told of each state that the link is put into. */
  readonly expect: (link: Link) => void;
}

/** The link with this role; undefined, with a failure, when there is none. */
export function findForChange(job: LinkJob, names: LinkNames): Link | undefined {
  const name = names.nameOf(job.role) ?? job.role;
  try {
    const link = LinksByRole.read(job.socket, names).get(job.role);
    if (link !== undefined) return link;
  } catch (error) {
    job.failures.push(failureOf(job.role, name, error));
    return undefined;
  }
  const mesh = "there is no such link";
  const tunnel = "this version makes no encapsulation device; use --encapsulate=never";
  const reason = job.role === "mesh" ? mesh : tunnel;
  job.failures.push(refusal(job.role, name, "ENODEV", `cannot change link ${name}: ${reason}`));
  return undefined;
}

/** Before the device is configured: MTU, and new addresses beside the old ones. */
export function prepareLink(job: LinkJob, link: Link): void {
  const { mtu, addAddresses, removeAddresses } = job.change;
  const requests: NetlinkRequest[] = [];
  if (mtu !== undefined) {
    requests.push(mtuRequest(link, mtu));
    job.expect({ ...link, mtu });
  }
  if (addAddresses.length > 0 && removeAddresses.length > 0) requests.push(promoteSecondariesRequest(link));
  requests.push(...addAddresses.map((on) => addAddressRequest(link, on)));
  send(job, link, requests, "EEXIST");
}

/** After the device is configured: up or down, and old addresses away. */
export function finishLink(job: LinkJob, link: Link): void {
  const { mtu = link.mtu, up, removeAddresses } = job.change;
  const requests: NetlinkRequest[] = [];
  if (up !== undefined) {
    requests.push(upRequest(link, up));
    job.expect({ ...link, mtu, up });
  }
  requests.push(...removeAddresses.map((on) => removeAddressRequest(link, on)));
  send(job, link, requests, "EADDRNOTAVAIL");
}

/** Sends requests; an error with the code `already` says that it was so before. */
function send(job: LinkJob, link: Link, requests: readonly NetlinkRequest[], already: string): void {
  try {
    for (const { error } of job.socket.batch(requests)) {
      if (error === undefined || isNetlinkError(error, already)) continue;
      job.failures.push(failureOf(job.role, link.name, error));
    }
  } catch (error) {
    job.failures.push(failureOf(job.role, link.name, error));
  }
}
