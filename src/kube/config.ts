/** Chooses between kubeconfig and in-cluster credentials, as Kilo's flags `--kubeconfig` and `--master` do (kilo.md §1.1). */
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { ClusterConfig, ConfigHost } from "./cluster-config.ts";
import { ConfigError } from "./errors.ts";
import { inClusterConfig, isInCluster } from "./in-cluster.ts";
import { readKubeconfig } from "./kubeconfig.ts";

export interface ConfigChoice {
  /** Path of a kubeconfig. @default none: the credentials of the pod we run in */
  readonly kubeconfig?: string | undefined;
  /** Context of the kubeconfig. @default its current-context */
  readonly context?: string | undefined;
  /** Address of the API server, instead of the configured one. @default none */
  readonly master?: string | undefined;
}

/** This machine. */
export const thisHost: ConfigHost = {
  env: process.env,
  readFile: (path) => readFileSync(path, "utf8"),
};

/**
 * Finds the cluster to talk to. Credentials are read and checked once here, so that what is wrong with them is said at the start.
 * `--master` alone takes the pod's credentials where there are any, else none.
 * Throws ConfigError.
 */
export function loadClusterConfig(choice: ConfigChoice, host: ConfigHost = thisHost): ClusterConfig {
  const config = withMaster(chosenConfig(choice, host), choice.master);
  checkServer(config);
  checkCredentials(config);
  return config;
}

function chosenConfig(choice: ConfigChoice, host: ConfigHost): ClusterConfig {
  if (isSet(choice.kubeconfig)) return readKubeconfig(choice.kubeconfig, choice.context, host);
  if (isInCluster(host)) return inClusterConfig(host);
  if (isSet(choice.master)) {
    return { server: choice.master, source: "--master", credentials: () => ({}) };
  }
  throw new ConfigError(
    "NoCluster",
    "cannot find an API server: no --kubeconfig is given and this is not a pod (KUBERNETES_SERVICE_HOST is not set); " +
      "give --kubeconfig FILE, or run as a pod with a service account",
  );
}

function withMaster(config: ClusterConfig, master: string | undefined): ClusterConfig {
  if (!isSet(master)) return config;
  const server = master.includes("://") ? master : `https://${master}`;
  return {
    ...config,
    server,
    source: config.source === "--master" ? "--master" : `${config.source} and --master`,
  };
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

function checkServer(config: ClusterConfig): void {
  const url = URL.canParse(config.server) ? new URL(config.server) : undefined;
  const usable = url !== undefined && ["https:", "http:", "unix:"].includes(url.protocol);
  if (usable && url.username === "" && url.password === "") return;
  throw new ConfigError(
    "Malformed",
    `cannot use the API server's address of ${config.source}: it must be like https://host:port without user (${url === undefined ? config.server : `${url.protocol}//${url.host}`})`,
  );
}

/** Lets OpenSSL read the texts now; its own words never quote them. */
function checkCredentials(config: ClusterConfig): void {
  const { ca, certificate, key } = config.credentials();
  try {
    if (ca !== undefined && !ca.includes("-----BEGIN CERTIFICATE-----")) {
      throw new Error("the CA is not a PEM certificate");
    }
    createSecureContext({ ca, cert: certificate, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      "Malformed",
      `cannot use the certificates of ${config.source}: ${reason}; check CA, client certificate and key`,
    );
  }
}
