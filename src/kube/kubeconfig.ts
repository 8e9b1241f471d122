/** Reads a kubeconfig: one context, its cluster and its user. What is not served is refused by name, never ignored. */
import { dirname, resolve } from "node:path";
import { load, YAMLException } from "js-yaml";
import type { ClusterConfig, ConfigHost, Credentials } from "./cluster-config.ts";
import { CredentialFile } from "./credential-file.ts";
import { ConfigError } from "./errors.ts";
import { fileReason } from "./file-reason.ts";

/**
 * The configuration of one context (default: `current-context`).
 * Inline data wins over files, `tokenFile` over `token`, as with kubectl; relative paths start at the kubeconfig's folder.
 * Throws ConfigError, which names the file and the field, never a value.
 */
export function readKubeconfig(path: string, context: string | undefined, host: ConfigHost): ClusterConfig {
  const file = new KubeconfigFile(path, host);
  const name = context ?? file.string(file.root, "current-context", "");
  if (name === undefined || name === "")
    throw file.malformed("it has no current-context, and none was given");

  const chosen = file.named("contexts", "context", name);
  const where = `contexts[${name}]`;
  const clusterName = file.string(chosen, "cluster", where);
  if (clusterName === undefined) throw file.malformed(`${where} names no cluster`);
  const cluster = file.named("clusters", "cluster", clusterName);
  const userName = file.string(chosen, "user", where);
  const user = userName === undefined || userName === "" ? {} : file.named("users", "user", userName);
  refuseUnserved(file, cluster, `clusters[${clusterName}]`, UNSERVED_CLUSTER_FIELDS);
  refuseUnserved(file, user, `users[${userName}]`, UNSERVED_USER_FIELDS);

  const server = file.string(cluster, "server", `clusters[${clusterName}]`);
  if (server === undefined || server === "") throw file.malformed(`clusters[${clusterName}] has no server`);
  return {
    server,
    source: `kubeconfig ${path}, context ${name}`,
    serverName: file.string(cluster, "tls-server-name", `clusters[${clusterName}]`),
    insecureSkipTlsVerify: file.boolean(cluster, "insecure-skip-tls-verify", `clusters[${clusterName}]`),
    namespace: file.string(chosen, "namespace", where),
    credentials: credentialsOf(file, { cluster, clusterName, user, userName: userName ?? "" }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

const UNSERVED_CLUSTER_FIELDS: Readonly<Record<string, string>> = {
  "proxy-url": "connect without a proxy",
};

/** An agent that starts foreign programs for its credentials would hang on them at night. */
const UNSERVED_USER_FIELDS: Readonly<Record<string, string>> = {
  exec: "use a service account's token or a client certificate",
  "auth-provider": "use a service account's token or a client certificate",
  username: "API servers since 1.19 take no passwords; use a token or a client certificate",
  password: "API servers since 1.19 take no passwords; use a token or a client certificate",
  as: "give the account the permissions itself",
  "as-uid": "give the account the permissions itself",
  "as-groups": "give the account the permissions itself",
  "as-user-extra": "give the account the permissions itself",
};

function refuseUnserved(
  file: KubeconfigFile,
  fields: Fields,
  where: string,
  unserved: Readonly<Record<string, string>>,
): void {
  for (const [field, advice] of Object.entries(unserved)) {
    const value = fields[field];
    if (value === undefined || value === null || value === "") continue;
    throw new ConfigError(
      "Unsupported",
      `cannot use kubeconfig ${file.path}: ${where} has ${field}, which is not supported here; ${advice}`,
    );
  }
}

interface Chosen {
  readonly cluster: Fields;
  readonly clusterName: string;
  readonly user: Fields;
  readonly userName: string;
}

function credentialsOf(file: KubeconfigFile, chosen: Chosen): () => Credentials {
  const user = `users[${chosen.userName}]`;
  const ca = file.pem(chosen.cluster, "certificate-authority", `clusters[${chosen.clusterName}]`);
  const certificate = file.pem(chosen.user, "client-certificate", user);
  const key = file.pem(chosen.user, "client-key", user);
  if ((certificate === undefined) !== (key === undefined)) {
    throw file.malformed(`${user} must have both client-certificate and client-key, or neither`);
  }
  const fixedToken = file.string(chosen.user, "token", user);
  const tokenPath = file.string(chosen.user, "tokenFile", user);
  const tokenFile = tokenPath === undefined ? undefined : file.credential(tokenPath, "token");
  return () => ({
    ca: ca?.(),
    certificate: certificate?.(),
    key: key?.(),
    token: tokenFile?.read().trim() ?? fixedToken,
  });
}

/** The parsed file, and typed access to its fields. */
class KubeconfigFile {
  readonly path: string;
  readonly root: Fields;
  readonly #host: ConfigHost;

  constructor(path: string, host: ConfigHost) {
    this.path = path;
    this.#host = host;
    this.root = this.#parse(this.#read());
  }

  malformed(reason: string): ConfigError {
    return new ConfigError(
      "Malformed",
      `cannot use kubeconfig ${this.path}: ${reason}; correct the file, or give another by --kubeconfig`,
    );
  }

  /** The entry of this name in one of the three lists. */
  named(list: string, field: string, name: string): Fields {
    const entries = this.root[list];
    const found = (Array.isArray(entries) ? entries : []).find(
      (entry) => isFields(entry) && entry.name === name,
    );
    if (found === undefined) throw this.malformed(`${list} has no entry named "${name}"`);
    const fields = (found as Fields)[field];
    if (!isFields(fields)) throw this.malformed(`${list}[${name}] has no ${field}`);
    return fields;
  }

  string(fields: Fields, field: string, where: string): string | undefined {
    const value = fields[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") throw this.malformed(`${where} ${field} is not a string (quote it)`);
    return value;
  }

  boolean(fields: Fields, field: string, where: string): boolean {
    const value = fields[field] ?? false;
    if (typeof value !== "boolean") throw this.malformed(`${where} ${field} is neither true nor false`);
    return value;
  }

  /** A PEM text: inline in `field-data` as base64, or in the file that `field` names, which is read anew each time. */
  pem(fields: Fields, field: string, where: string): (() => string) | undefined {
    const data = this.string(fields, `${field}-data`, where);
    if (data !== undefined && data !== "") {
      const text = Buffer.from(data, "base64").toString("utf8");
      if (!text.includes("-----BEGIN"))
        throw this.malformed(`${where} ${field}-data is not base64 of a PEM text`);
      return () => text;
    }
    const path = this.string(fields, field, where);
    if (path === undefined || path === "") return undefined;
    const credential = this.credential(path, field);
    return () => credential.read();
  }

  credential(path: string, what: string): CredentialFile {
    return new CredentialFile(
      resolve(dirname(this.path), path),
      `${what} of kubeconfig ${this.path}`,
      this.#host,
    );
  }

  #read(): string {
    try {
      return this.#host.readFile(this.path);
    } catch (error) {
      throw new ConfigError(
        "Unreadable",
        `cannot read kubeconfig ${this.path}: ${fileReason(error)}; check --kubeconfig and the file's permissions`,
        { cause: error },
      );
    }
  }

  /** The parser's error is not kept as cause: it quotes the lines around, and those may hold a key. */
  #parse(text: string): Fields {
    let parsed: unknown;
    try {
      parsed = load(text);
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const line = error.mark === undefined ? "" : ` in line ${error.mark.line + 1}`;
      throw this.malformed(`it is not YAML: ${error.reason}${line}`);
    }
    if (!isFields(parsed)) throw this.malformed("it is not a mapping with clusters, users and contexts");
    return parsed;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
