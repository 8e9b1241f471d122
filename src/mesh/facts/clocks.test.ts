/** S-13: wrong clocks, this host's and others'. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f3, NOW, type NodeSketch, planInput } from "../fixtures.test-kit.ts";
import type { PlanInput } from "../options.ts";
import { readMesh } from "./mesh.ts";

const HOUR = 3600;

/** a1 sees the mesh: whose nodes are alive, and what is wrong. `heard` is when a2 and b1 were heard, by its own clock. */
function seen(
  lastSeen: { a1?: number; a2: number; b1: number },
  { heard, now = NOW, kilo, ...input }: Sketch = {},
) {
  const overrides: Record<string, Partial<NodeSketch>> = {
    a1: { lastSeen: lastSeen.a1 ?? now },
    a2: { lastSeen: lastSeen.a2, kilo: kilo ?? false },
    b1: { lastSeen: lastSeen.b1 },
  };
  const checkIns = heard && new Map(Object.entries(heard));
  const facts = readMesh(planInput("a1", { nodes: f3(overrides), now, checkIns, ...input }));
  return {
    alive: facts.readyNodes.map(({ name }) => name),
    problems: facts.problems.map(({ object, reason, message }) => {
      return reason.startsWith("clock") ? `${object.kind} ${object.name}: ${message}` : reason;
    }),
  };
}

type Sketch = Partial<Pick<PlanInput, "now" | "heardAt" | "gap">> & {
  readonly heard?: Readonly<Record<string, number>>;
  readonly kilo?: boolean;
};

describe("S-13: this host's clock is an hour ahead", () => {
  const others = { a2: NOW - HOUR - 20, b1: NOW - HOUR - 5 };

  it("who is heard to check in is alive, and the host is told", () => {
    assert.deepEqual(seen(others, { heard: { a2: NOW - 20, b1: NOW - 5 } }), {
      alive: ["a1", "a2", "b1"],
      problems: ["Host a1: this host's clock is an hour or more ahead of those of most other nodes"],
    });
  });

  it("who is not heard any more is dead", () => {
    const { alive } = seen(others, { heard: { a2: NOW - 61, b1: NOW - 5 } });
    assert.deepEqual(alive, ["a1", "b1"]);
  });

  it("while the API server is away everybody stays", () => {
    const away = { heard: { a2: NOW - 20, b1: NOW - 5 }, now: NOW + HOUR, heardAt: NOW };
    assert.deepEqual(seen(others, away).alive, ["a1", "a2", "b1"]);
    const back = { ...away, heardAt: NOW + HOUR, gap: { gapStart: NOW, listedAt: NOW + HOUR } };
    assert.deepEqual(seen(others, back).alive, ["a1", "a2", "b1"]);
  });

  it("in a mixed mesh clocks are compared, as Kilo's agents do, and the host is told", () => {
    assert.deepEqual(seen(others, { heard: { a2: NOW - 20, b1: NOW - 5 }, kilo: true }), {
      alive: ["a1"],
      problems: [
        "node-stale",
        "node-stale",
        "Host a1: this host's clock is an hour or more ahead of those of most other nodes",
      ],
    });
  });
});

describe("S-13: this host's clock is an hour behind", () => {
  const others = { a2: NOW + HOUR + 10, b1: NOW + HOUR };

  it("is told already before anybody was heard", () => {
    assert.deepEqual(seen(others), {
      alive: ["a1", "a2", "b1"],
      problems: ["Host a1: this host's clock is an hour or more behind those of most other nodes"],
    });
  });

  it("a dead node is noticed although its last check-in lies in the future", () => {
    assert.deepEqual(seen(others, { heard: { a2: NOW - 61, b1: NOW - 5 } }).alive, ["a1", "b1"]);
  });
});

describe("S-13: another node's clock is wrong", () => {
  it("an hour behind: it is heard, so it is alive, and named", () => {
    const heard = { a2: NOW - 5, b1: NOW - 5 };
    assert.deepEqual(seen({ a2: NOW - HOUR, b1: NOW - 5 }, { heard }), {
      alive: ["a1", "a2", "b1"],
      problems: ["Node a2: its clock is a minute or more behind this host's"],
    });
  });

  it("an hour ahead: named, heard or not", () => {
    for (const heard of [undefined, { a2: NOW - 5, b1: NOW - 5 }]) {
      assert.deepEqual(seen({ a2: NOW + HOUR, b1: NOW - 5 }, { ...(heard && { heard }) }), {
        alive: ["a1", "a2", "b1"],
        problems: ["Node a2: its clock is an hour or more ahead of this host's"],
      });
    }
  });

  it("a node that is dead says nothing about clocks", () => {
    assert.deepEqual(seen({ a2: NOW - HOUR, b1: NOW - HOUR }).problems, ["node-stale", "node-stale"]);
  });

  it("what is listed after a gap may have been written long before", () => {
    const gap = { gapStart: NOW - 300, listedAt: NOW };
    const { problems } = seen({ a2: NOW - 200, b1: NOW - 100 }, { heard: { a2: NOW, b1: NOW }, gap });
    assert.deepEqual(problems, []);
  });

  it("of two clocks that differ nobody knows which is wrong", () => {
    const nodes = f3({ a2: { lastSeen: NOW + HOUR } }).slice(0, 2);
    const { problems } = readMesh(planInput("a1", { nodes }));
    assert.deepEqual(
      problems.map(({ object }) => `${object.kind} ${object.name}`),
      ["Node a2"],
    );
  });
});

it("a clock that was set back by an hour: what was heard before means nothing", () => {
  const heard = { a2: NOW + HOUR, b1: NOW - 5 };
  assert.deepEqual(seen({ a2: NOW - 100, b1: NOW - 5 }, { heard }).alive, ["a1", "b1"]);
});
