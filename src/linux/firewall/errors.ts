/** What goes wrong with the firewall. */

/**
 * - `FIREWALL_REFUSED`: nft did not do it; the message has its first line
 * - `FIREWALL_CHANGED`: elements were to be changed in a table that is missing or not ours any more; it has to be replaced
 * - `FIREWALL_LISTING`: nft's listing cannot be read
 * - `FIREWALL_TIMEOUT`: nft did not end in time
 */
export type FirewallErrorCode =
  | "FIREWALL_REFUSED"
  | "FIREWALL_CHANGED"
  | "FIREWALL_LISTING"
  | "FIREWALL_TIMEOUT";

/** Message: "cannot X: reason (value)". */
export class FirewallError extends Error {
  readonly code: FirewallErrorCode;

  constructor(code: FirewallErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "FirewallError";
    this.code = code;
  }
}
