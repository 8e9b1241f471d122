/** Which link has which role, on this host, now. */
import type { LinkRole } from "../mesh/index.ts";
import type { LinkNames } from "./ports.ts";

/** Names by role. The mesh link's name is fixed; `private` is known only after address discovery. */
export class LinkRoles implements LinkNames {
  readonly #names: Map<LinkRole, string>;

  constructor(names: { mesh: string; private?: string | undefined; tunnel?: string | undefined }) {
    this.#names = new Map([["mesh", names.mesh]]);
    this.set("private", names.private);
    this.set("tunnel", names.tunnel);
  }

  /** Gives a role to a link; undefined takes it away. */
  set(role: Exclude<LinkRole, "mesh">, name: string | undefined): void {
    if (name === undefined) this.#names.delete(role);
    else this.#names.set(role, name);
  }

  nameOf(role: LinkRole): string | undefined {
    return this.#names.get(role);
  }

  roleOf(name: string): LinkRole | undefined {
    for (const [role, known] of this.#names) if (known === name) return role;
    return undefined;
  }
}
