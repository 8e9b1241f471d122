import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PeerStatus } from "../wireguard/index.ts";
import { hasNews, learnedEndpoints, silentPeers, whereabouts } from "./handshakes.ts";
import { at, key, peer } from "./peers.test-kit.ts";

const NOW = 1_000_000;

describe("handshakes", () => {
  it("K-03: an endpoint that never completed a handshake, or not lately, is not advertised", () => {
    const device = { listenPort: 51820, peers: [peer(1, NOW - 5), peer(2, 0), peer(3, NOW - 181)] };
    assert.deepEqual(
      learnedEndpoints(device, NOW).map((learned) => learned.publicKey),
      [key(1)],
    );
    assert.deepEqual(learnedEndpoints(undefined, NOW), []);
  });

  it("a clock set back by an hour keeps no dead session alive, in what is advertised neither", () => {
    const device = { listenPort: 51820, peers: [peer(1, NOW + 3600), peer(2, NOW + 5)] };
    assert.deepEqual(
      learnedEndpoints(device, NOW).map((learned) => learned.publicKey),
      [key(2)],
    );
  });

  it("waits for peers with a keepalive, and for those that never answered", () => {
    const planned = {
      listenPort: 51820,
      peers: [
        { ...peer(1, 0), persistentKeepalive: 10 },
        peer(2, 0),
        peer(3, 0),
        { ...peer(4, 0), endpoint: undefined },
        peer(5, 0),
      ],
    };
    const seen = {
      listenPort: 51820,
      peers: [peer(1, NOW - 200), peer(2, NOW - 500), peer(3, 0), peer(4, 0)],
    };
    assert.deepEqual(silentPeers(planned, seen, NOW), [key(1), key(3), key(5)]);
  });

  it("a new handshake with the same endpoint is no news; one that was learned, moved or lost is", () => {
    const planned = device(peer(1, 0), peer(2, 0));
    const look = (...peers: PeerStatus[]) => whereabouts(planned, device(...peers), NOW);
    const before = look(peer(1, NOW - 100), peer(2, NOW));
    assert.equal(hasNews(before, look(peer(2, NOW), peer(1, NOW))), false);
    assert.equal(hasNews(before, look(peer(1, NOW), { ...peer(2, NOW), endpoint: at(9) })), true);
    assert.equal(hasNews(before, look(peer(1, NOW), peer(2, NOW - 181))), true);
    assert.equal(hasNews(new Map(), before), true);
    assert.equal(hasNews(look(peer(1, 0), peer(2, 0)), before), true);
  });

  it("an endpoint that became the planned one because the plan changed is no news", () => {
    const moved = { ...peer(1, NOW), endpoint: at(9) };
    const before = whereabouts(device(peer(1, 0)), device(peer(1, NOW)), NOW);
    assert.equal(hasNews(before, whereabouts(device(moved), device(moved), NOW)), false);
    assert.equal(hasNews(before, whereabouts(device(peer(1, 0)), device(moved), NOW)), true, "it roamed");
    const silent = whereabouts(device(peer(1, 0)), device(peer(1, 0)), NOW);
    assert.equal(hasNews(silent, whereabouts(device(moved), device(moved), NOW)), true, "it answered");
  });

  it("a peer that is not planned any more is no news", () => {
    const before = whereabouts(device(peer(1, 0)), device(peer(1, NOW)), NOW);
    assert.equal(hasNews(before, whereabouts(device(), device(peer(1, NOW)), NOW)), false);
  });
});

function device(...peers: PeerStatus[]) {
  return { listenPort: 51820, peers };
}
