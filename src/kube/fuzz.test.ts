import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import fc from "fast-check";
import { loadClusterConfig } from "./config.ts";
import { ConfigError, KubeError } from "./errors.ts";
import { createFakeClock } from "./fake-clock.test-kit.ts";
import { projectNode } from "./project-node.ts";
import { projectPeer } from "./project-peer.ts";
import { NODES } from "./resources.ts";
import { parseRetryAfter, statusErrorOfAnswer } from "./status.ts";
import { readWatch } from "./watch.ts";

const OPERATION = { verb: "watch", resource: NODES } as const;

describe("whatever bytes come", () => {
  it("a watch ends in order or with an error of ours", async () => {
    const line = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({ type: fc.constantFrom("ADDED", "ERROR", "BOOKMARK", "x"), object: fc.jsonValue() })
        .map((event) => JSON.stringify(event)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        const body = new PassThrough();
        const options = { operation: OPERATION, source: "k", timeoutSeconds: 300, clock: createFakeClock() };
        const done = readWatch(body as unknown as IncomingMessage, {
          ...options,
          onEvent: ({ object }) => assert.equal(typeof object.metadata, "object"),
        });
        body.end(lines.map((each) => `${each}\n`).join(""));
        await done.catch((error: unknown) => assert.ok(error instanceof KubeError, String(error)));
      }),
    );
  });

  it("a failure becomes an error of ours with a short message", () => {
    const status = fc.record({
      kind: fc.constant("Status"),
      reason: fc.jsonValue(),
      message: fc.jsonValue(),
      details: fc.jsonValue(),
    });
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      status.map((each) => JSON.stringify(each)),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 300, max: 599 }), (body, code) => {
        const error = statusErrorOfAnswer(OPERATION, { status: code, body: Buffer.from(body), source: "k" });
        assert.equal(error.status, code);
        assert.match(error.message, /^cannot watch nodes: /);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (header) => {
        const milliseconds = parseRetryAfter(header, 0);
        assert.ok(milliseconds === undefined || milliseconds >= 0);
      }),
    );
  });

  it("a kubeconfig is used or refused with a ConfigError", () => {
    const name = fc.constant("a");
    const loose = <T>(value: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 29, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue() });
    const list = (field: string, value: fc.Arbitrary<unknown>) =>
      loose(
        fc.array(loose(fc.record({ name: loose(name), [field]: loose(value) })), {
          minLength: 1,
          maxLength: 2,
        }),
      );
    const config = fc.record({
      "current-context": loose(name),
      contexts: list("context", fc.record({ cluster: loose(name), user: loose(name) })),
      clusters: list(
        "cluster",
        fc.record(
          { server: loose(fc.webUrl()), "certificate-authority-data": loose(fc.base64String()) },
          { requiredKeys: ["server"] },
        ),
      ),
      users: list(
        "user",
        fc.record(
          { token: loose(fc.string()), "client-key-data": loose(fc.base64String()) },
          { requiredKeys: [] },
        ),
      ),
    });
    let used = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          config.map((each) => JSON.stringify(each)),
          fc.string(),
        ),
        (text) => {
          try {
            const loaded = loadClusterConfig({ kubeconfig: "/k" }, { env: {}, readFile: () => text });
            assert.equal(typeof loaded.server, "string");
            used += 1;
          } catch (error) {
            assert.ok(error instanceof ConfigError, String(error));
          }
        },
      ),
      { numRuns: 1_000 },
    );
    assert.ok(used > 0, "no generated kubeconfig was usable: the property looks at nothing");
  });

  it("an object of any shape is projected to the types promised", () => {
    const project = projectNode("region");
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (spec, status, values) => {
        const metadata = { name: "a", labels: values, annotations: values } as never;
        const node = project({ metadata, spec, status });
        assert.ok(Array.isArray(node.status?.addresses));
        const peer = projectPeer({ metadata: { name: "a" }, spec });
        assert.ok(["string", "undefined"].includes(typeof peer.spec?.publicKey));
      }),
    );
  });
});
