/** The hidden verb `lab apiserver FILE`: the embedded API server as a process of its own, in the network of the control plane's host. */
import { readFileSync } from "node:fs";
import { PEER_CRD } from "../kube/index.ts";
import { type JsonMap, startApiServer } from "./apiserver/index.ts";
import type { ApiServerSettings } from "./control-plane.ts";

/** Starts the server; it runs until the process ends. */
export async function serveApi(file: string): Promise<void> {
  const settings = JSON.parse(readFileSync(file, "utf8")) as ApiServerSettings;
  await startApiServer({
    host: settings.address,
    port: settings.port,
    socketPath: settings.socketPath,
    tls: { ...settings.server, clientCa: settings.ca },
    // With no tokens known, a client without a certificate is refused, as in a real cluster.
    tokens: {},
    objects: [JSON.parse(JSON.stringify(PEER_CRD)) as JsonMap],
  });
}
