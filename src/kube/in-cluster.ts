/** Credentials of the pod we run in: its service account's token and the cluster's CA, as every pod gets them mounted. */
import type { ClusterConfig, ConfigHost } from "./cluster-config.ts";
import { CredentialFile } from "./credential-file.ts";

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether this is a pod: the kubelet sets both variables in every container. */
export function isInCluster(host: ConfigHost): boolean {
  return Boolean(host.env.KUBERNETES_SERVICE_HOST) && Boolean(host.env.KUBERNETES_SERVICE_PORT);
}

/** The configuration of this pod. Throws ConfigError when the mounted files cannot be read. */
export function inClusterConfig(host: ConfigHost): ClusterConfig {
  const address = host.env.KUBERNETES_SERVICE_HOST ?? "";
  const port = host.env.KUBERNETES_SERVICE_PORT ?? "";
  const token = new CredentialFile(`${FOLDER}/token`, "service account token", host);
  const ca = new CredentialFile(`${FOLDER}/ca.crt`, "cluster's CA", host);
  token.read();
  return {
    server: `https://${address.includes(":") ? `[${address}]` : address}:${port}`,
    source: "this pod's service account",
    namespace: readNamespace(host),
    credentials: () => ({ token: token.read().trim(), ca: ca.read() }),
  };
}

function readNamespace(host: ConfigHost): string | undefined {
  try {
    return host.readFile(`${FOLDER}/namespace`).trim();
  } catch {
    return undefined;
  }
}
