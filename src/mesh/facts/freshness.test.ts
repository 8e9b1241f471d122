/** Whose mesh it is, and who is alive in it. */
import assert from "node:assert/strict";
import test from "node:test";
import { f3, K1, NOW, node, planInput } from "../fixtures.test-kit.ts";
import { isFresh } from "./freshness.ts";
import { readMesh } from "./mesh.ts";
import { meshMode } from "./mode.ts";

const LIVE = { at: NOW };

test("kilo.md §2.4: a node is fresh for less than 60 s", () => {
  assert.equal(isFresh(NOW - 59, LIVE), true);
  assert.equal(isFresh(NOW - 60, LIVE), false);
  assert.equal(isFresh(0, LIVE), false);
});

test("while the own watch hears nothing, who was alive stays alive and who was dead stays dead", () => {
  const nodes = f3({ a2: { lastSeen: NOW - 20 }, b1: { lastSeen: NOW - 90 } });
  const { readyNodes } = readMesh(planInput("a1", { nodes, now: NOW + 3600, heardAt: NOW }));
  assert.deepEqual(
    readyNodes.map(({ name }) => name),
    ["a1", "a2"],
  );
});

test("after a gap, who had checked in around its start has 60 s to check in again", () => {
  const listedAt = NOW + 90;
  const gap = { gapStart: NOW, listedAt };
  const at = (seconds: number) => ({ at: listedAt + seconds, gap });
  assert.equal(isFresh(NOW - 30, at(0)), true);
  assert.equal(isFresh(NOW - 30, at(59)), true);
  assert.equal(isFresh(NOW - 30, at(60)), false);
  assert.equal(isFresh(NOW - 60, at(0)), false);
  assert.equal(isFresh(listedAt + 10, at(60)), true);
});

test("whose mesh: one node with a key and without our agent's mark makes it Kilo's, ready or not", () => {
  assert.equal(meshMode([]), "kilomesh");
  assert.equal(meshMode(f3()), "kilomesh");
  assert.equal(meshMode([...f3(), node({ name: "no key" })]), "kilomesh");
  assert.equal(meshMode([...f3(), node({ name: "k", key: K1, kilo: true, lastSeen: NOW - 86_400 })]), "kilo");
});

test("whose mesh: a roll-back to Kilo undoes the mark, because it writes last-seen alone", () => {
  const [first, ...others] = f3();
  assert.ok(first);
  const annotations = { ...first.metadata.annotations, "kilo.squat.ai/last-seen": String(NOW + 30) };
  assert.equal(meshMode([{ ...first, metadata: { ...first.metadata, annotations } }, ...others]), "kilo");
});

test("after a gap, a clock set back by an hour does not keep the gap open for an hour", () => {
  const gap = { gapStart: NOW, listedAt: NOW + 90 };
  assert.equal(isFresh(NOW - 30, { at: NOW + 90, gap }), true);
  assert.equal(isFresh(NOW - 3630, { at: NOW + 90 - 3600, gap }), false);
  assert.equal(isFresh(NOW - 30, { at: NOW + 89, gap }), true, "put right by a second, it ends no gap");
});
