import assert from "node:assert/strict";
import { test } from "node:test";
import { SESSION_SECONDS, sessionLives } from "./session.ts";

const NOW = 1_700_000_000;

test("a session lives for 180 s after its handshake", () => {
  assert.equal(SESSION_SECONDS, 180);
  assert.equal(sessionLives(NOW, NOW), true);
  assert.equal(sessionLives(NOW - 179, NOW), true);
  assert.equal(sessionLives(NOW - 180, NOW), false);
});

test("there is none without a handshake, whatever the clock says", () => {
  for (const now of [NOW, 100, 0]) assert.equal(sessionLives(0, now), false);
});

test("a clock set back by seconds ends no session; set back by an hour, it keeps no dead one alive", () => {
  assert.equal(sessionLives(NOW + 179, NOW), true);
  assert.equal(sessionLives(NOW + 180, NOW), false);
  assert.equal(sessionLives(NOW + 3600, NOW), false);
});
