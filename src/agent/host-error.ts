/** What keeps kg from working on this host at all. */

/** The host is not one on which kg can work. The message says what to do. */
export class HostError extends Error {
  readonly code = "host";
}

/** @throws HostError unless the process is root */
export function requireRoot(what: string): void {
  if (process.getuid?.() === 0) return;
  throw new HostError(
    `cannot ${what}: kg changes links, routes and firewall, so it has to run as root (in a pod: as user 0 with NET_ADMIN)`,
  );
}
