import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeObject } from "../mesh/index.ts";
import { countFresh, isCheckIn } from "./check-ins.ts";

const NOW = 1_000_000;
const AT = { at: NOW };

describe("check-ins", () => {
  it("a node that lives and only says so again is a check-in", () => {
    assert.equal(isCheckIn(changed(node(NOW - 30), node(NOW)), AT), true);
    assert.equal(isCheckIn(changed(node(NOW - 30), node(NOW, { "kilo.squat.ai/key": "k" })), AT), false);
    assert.equal(
      isCheckIn(changed(node(NOW - 30), { ...node(NOW), spec: { podCIDR: "10.0.0.0/24" } }), AT),
      false,
    );
  });

  it("a node that comes back to life is news, and so is one that came or went", () => {
    assert.equal(isCheckIn(changed(node(NOW - 60), node(NOW)), AT), false);
    assert.equal(isCheckIn({ kind: "added", name: "a", object: node(NOW) }, AT), false);
    assert.equal(isCheckIn({ kind: "removed", name: "a", previous: node(NOW) }, AT), false);
  });

  it("a check-in by another kind of agent is news: it may change whose mesh it is", () => {
    const kilo = node(NOW, { "kilomesh.io/agent": `1.0.0 ${NOW - 30}` });
    assert.equal(isCheckIn(changed(node(NOW - 30), kilo), AT), false);
    assert.equal(isCheckIn(changed(kilo, node(NOW + 30)), { at: NOW + 30 }), false);
  });

  it("S-13: by a clock that is wrong by an hour, who was heard lives all the same", () => {
    const view = { at: NOW, checkIns: new Map([["a", NOW - 30]]) };
    for (const wrong of [NOW - 3630, NOW + 3570]) {
      assert.equal(isCheckIn(changed(node(wrong), node(wrong + 30)), view), true);
      assert.equal(countFresh([node(wrong)], view), 1);
      assert.equal(countFresh([node(wrong)], { ...view, at: NOW + 30 }), 0);
    }
  });

  it("counts who has checked in lately", () => {
    assert.equal(
      countFresh([node(NOW), node(NOW - 59), node(NOW - 60), { metadata: { name: "new" } }], AT),
      2,
    );
  });
});

function changed(previous: NodeObject, object: NodeObject) {
  return { kind: "changed", name: "a", previous, object } as const;
}

function node(lastSeen: number, annotations: Readonly<Record<string, string>> = {}): NodeObject {
  return {
    metadata: {
      name: "a",
      annotations: {
        "kilo.squat.ai/last-seen": String(lastSeen),
        "kilomesh.io/agent": `1.0.0 ${lastSeen}`,
        ...annotations,
      },
    },
  };
}
