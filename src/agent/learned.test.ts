import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LearnedEndpoints } from "./learned.ts";
import { at, key, peer } from "./peers.test-kit.ts";

describe("learned endpoints", () => {
  it("a device that was made again shows nothing, and what the one before learned still counts", () => {
    const learned = new LearnedEndpoints();
    learned.saw({ listenPort: 1, peers: [peer(1, 100), peer(2, 0)] }, 100);
    learned.saw({ listenPort: 1, peers: [peer(1, 0), peer(2, 0)] }, 101);
    learned.saw(undefined, 102);
    assert.deepEqual(
      learned.list().map(({ publicKey, latestHandshake }) => [publicKey, latestHandshake]),
      [[key(1), 100]],
    );
  });

  it("an endpoint that moved replaces the one before", () => {
    const learned = new LearnedEndpoints();
    learned.saw({ listenPort: 1, peers: [peer(1, 100)] }, 100);
    learned.saw({ listenPort: 1, peers: [{ ...peer(1, 120), endpoint: at(9) }] }, 120);
    assert.deepEqual(learned.list(), [
      { publicKey: key(1), endpoint: at(9), latestHandshake: 120, heardAt: 100 },
    ]);
  });

  it("a peer is heard when its received bytes differ, also when a new device counts from 0", () => {
    const learned = new LearnedEndpoints();
    const heardAt = () => learned.list()[0]?.heardAt;
    const seen = (receivedBytes: number, now: number) =>
      learned.saw({ listenPort: 1, peers: [{ ...peer(1, 100), receivedBytes }] }, now);
    seen(148, 100);
    assert.equal(heardAt(), 100);
    seen(148, 130);
    assert.equal(heardAt(), 100);
    seen(180, 140);
    assert.equal(heardAt(), 140);
    seen(92, 150);
    assert.equal(heardAt(), 150);
  });

  it("peers that left the mesh are forgotten", () => {
    const learned = new LearnedEndpoints();
    learned.saw({ listenPort: 1, peers: [peer(1, 100), peer(2, 100)] }, 100);
    learned.retain({ listenPort: 1, peers: [peer(2, 0)] });
    assert.deepEqual(
      learned.list().map(({ publicKey }) => publicKey),
      [key(2)],
    );
  });
});
