/** For tests of the client: scripted servers and clients that are closed after each test, and what an error must be. */
import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { TEST_CA } from "./certificates.test-kit.ts";
import { createKubeClient, type KubeClient, type KubeClientOptions } from "./client.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import type { KubeError } from "./errors.ts";
import {
  type Answerer,
  type ScriptedServer,
  type ScriptedServerOptions,
  startScriptedServer,
} from "./scripted-server.test-kit.ts";

export const NODE = { metadata: { name: "a", resourceVersion: "1" } };

export interface ClientRig {
  serve(answer: Answerer, options?: ScriptedServerOptions): Promise<ScriptedServer>;
  connect(
    server: { url: string },
    config?: Partial<ClusterConfig>,
    options?: Partial<KubeClientOptions>,
  ): KubeClient;
  /** Called after the test. */
  defer(close: () => unknown): void;
}

/** For use inside one `describe`. */
export function clientRig(): ClientRig {
  const toClose: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close();
  });
  return {
    async serve(answer, options) {
      const server = await startScriptedServer(answer, options);
      toClose.push(() => server.close());
      return server;
    },
    connect(server, config = {}, options = {}) {
      const client = createKubeClient({ config: { ...configFor(server.url), ...config }, ...options });
      toClose.push(() => client.close());
      return client;
    },
    defer: (close) => toClose.push(close),
  };
}

/** A configuration that trusts the test CA and calls itself `kubeconfig k`. */
export function configFor(url: string): ClusterConfig {
  return { server: url, source: "kubeconfig k", credentials: () => ({ ca: TEST_CA }) };
}

/** Awaits the rejection, and checks its class, code and words. */
export async function rejects(
  call: Promise<unknown>,
  type: abstract new (...args: never[]) => KubeError,
  code: string | RegExp,
  texts: readonly string[],
): Promise<KubeError> {
  const error = await call.then(
    () => assert.fail("it must reject"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof type, String(error));
  if (typeof code === "string") assert.equal(error.code, code);
  else assert.match(error.code, code);
  for (const text of texts) assert.ok(error.message.includes(text), error.message);
  return error;
}
