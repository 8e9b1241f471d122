/** Tokens: refused, rotated, and with too few permissions. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createReflector, NODES, PEERS, StatusError } from "../../../src/kube/index.ts";
import type { ServerUnderTest } from "../kube.ts";
import { eventually, openWorkplace, type Workplace } from "./workplace.ts";

export function credentialContract(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(`${name}: credentials`, () => {
    let place: Workplace;
    before(async () => {
      place = await openWorkplace(open);
    });
    after(() => place.close());

    it("a token is taken until it is revoked, and 401 says what to check", async () => {
      const token = await place.server.issueToken();
      const client = withToken(() => token);
      await client.list(NODES, { limit: 1 });
      await place.server.revokeToken(token);
      await refusedWith(
        client.list(NODES, { limit: 1 }),
        401,
        /cannot list nodes: 401 .*valid and not expired/,
      );
    });

    it("403 names the permission that is missing", async () => {
      const token = await place.server.issueToken();
      const client = withToken(() => token);
      await refusedWith(
        client.list(PEERS),
        403,
        /cannot list peers: 403 .*apiGroups \["kilo\.squat\.ai"\], resources \["peers"\], verbs \["list"\]/,
      );
      await place.createNodes("a");
      const patch = client.patch(NODES, place.name("a"), {}, { kind: "merge" });
      await refusedWith(patch, 403, /resources \["nodes"\], verbs \["patch"\]/);
    });

    it("a token that rotates under a running reflector is taken up by itself", async () => {
      let token = await place.server.issueToken();
      const reflector = createReflector({
        client: withToken(() => token),
        resource: NODES,
        labelSelector: place.labelSelector,
        project: (node) => ({ name: node.metadata.name }),
      });
      reflector.start();
      try {
        await eventually("live", () => reflector.live);
        const old = token;
        token = await place.server.issueToken();
        await place.server.revokeToken(old);
        await place.server.stop();
        await eventually("not live", () => !reflector.live);
        await place.server.start();
        await eventually("live again", () => reflector.live);
        await place.createNodes("b");
        await eventually("the new node", () => reflector.items().has(place.name("b")));
      } finally {
        await reflector.stop();
      }
    });

    const withToken = (token: () => string) => {
      const { ca } = place.server.config.credentials();
      return place.connect({ credentials: () => ({ ca, token: token() }) });
    };
  });
}

async function refusedWith(call: Promise<unknown>, status: number, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof StatusError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, message);
    return true;
  });
}
