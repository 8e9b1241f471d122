/** What Node says when a connection does not come about, as errors that say what to do. */
import { type KubeError, TlsError, UnreachableError } from "./errors.ts";

/** Where the attempt went, for the message. */
export interface Attempt {
  /** What was tried, e.g. `list nodes`. */
  readonly what: string;
  /** Address of the server. */
  readonly server: string;
  /** Where address and credentials came from. */
  readonly source: string;
}

/** Turns Node's error into one of ours; `cause` keeps Node's. */
export function connectionError(attempt: Attempt, error: unknown): KubeError {
  const code = codeOf(error);
  const advice = tlsAdvice(code, attempt.source);
  if (advice !== undefined) {
    const message = `cannot ${attempt.what}: TLS with the API server ${attempt.server} failed (${code}); ${advice}`;
    return new TlsError(code, message, { cause: error });
  }
  const message = `cannot ${attempt.what}: no answer from the API server ${attempt.server} (${code}); ${reachAdvice(code, attempt.source)}`;
  return new UnreachableError(code, message, { cause: error });
}

const UNKNOWN_CA = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "INVALID_CA",
]);

function tlsAdvice(code: string, source: string): string | undefined {
  if (UNKNOWN_CA.has(code)) {
    return `its certificate is not signed by the CA of ${source}: put the cluster's CA there (certificate-authority-data)`;
  }
  if (code === "CERT_HAS_EXPIRED") {
    return "its certificate has expired: renew it, and check this machine's clock";
  }
  if (code === "CERT_NOT_YET_VALID") return "its certificate is not valid yet: check this machine's clock";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "its certificate is for other names: use one of them as address, or set tls-server-name in the kubeconfig";
  }
  if (code === "EPROTO" || /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/.test(code)) {
    return "it does not speak TLS on this port: check scheme and port of the address";
  }
  if (/^ERR_SSL_.*ALERT/.test(code)) {
    return `it refused the client certificate of ${source}: check that it is signed by the cluster's client CA and not expired`;
  }
  return /^ERR_(SSL|TLS|OSSL)/.test(code) ? "check certificates and keys" : undefined;
}

function reachAdvice(code: string, source: string): string {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `its name does not resolve: check the address in ${source} and this machine's DNS`;
  }
  if (code === "ECONNRESET" || code === "EPIPE") {
    return `it closed the connection: check that it runs, and that it accepts the client certificate of ${source}, if there is one`;
  }
  return `check that it runs, that the address in ${source} is right, and that no firewall is in between`;
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "UNKNOWN";
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string" && code !== "") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "UNKNOWN";
}
