/** The links with a role, as they are now: index for the kernel, role for the mesh. */
import type { LinkRole } from "../mesh/index.ts";
import { findLink, type Link } from "./links.ts";
import type { NetlinkSocket } from "./netlink/index.ts";
import type { LinkNames } from "./ports.ts";

const ROLES: readonly LinkRole[] = ["mesh", "private", "tunnel"];

/** A snapshot. Indexes change when a link is made anew, so it is taken for each operation. */
export class LinksByRole {
  readonly #byRole = new Map<LinkRole, Link>();

  /** Looks every name up. Throws NetlinkError. */
  static read(socket: NetlinkSocket, names: LinkNames): LinksByRole {
    const links = new LinksByRole();
    for (const role of ROLES) {
      const name = names.nameOf(role);
      const link = name === undefined ? undefined : findLink(socket, name);
      if (link !== undefined) links.#byRole.set(role, link);
    }
    return links;
  }

  /** All of them. */
  [Symbol.iterator](): IterableIterator<Link> {
    return this.#byRole.values();
  }

  /** The link with this role; undefined when there is none. */
  get(role: LinkRole): Link | undefined {
    return this.#byRole.get(role);
  }

  /** The role of the link with this index; undefined when it has none. */
  roleAt(index: number | undefined): LinkRole | undefined {
    for (const [role, link] of this.#byRole) if (link.index === index) return role;
    return undefined;
  }
}
