import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ApiObject } from "./cluster-objects.ts";
import { pathSummary, pathTable } from "./path-table.ts";
import type { CheckedPath } from "./paths.ts";
import { drawPicture } from "./picture.ts";
import { pictureOf } from "./picture-of-objects.ts";
import type { Prober } from "./prober/index.ts";
import { stepsUntil, terminalSteps } from "./steps.ts";

function checked(from: string, to: string, rtt: number | undefined): CheckedPath {
  const end = (name: string): CheckedPath["from"] => ({
    name,
    address: "10.0.0.1",
    mtu: 1420,
    prober: {} as Prober,
  });
  return { from: end(from), to: end(to), result: { ok: rtt !== undefined, rtt, reason: "ping: no answer" } };
}

function node(name: string, place: string, annotations: Record<string, string>): ApiObject {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "topology.kubernetes.io/region": place },
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`kilo.squat.ai/${key}`, value]),
      ),
    },
    spec: { podCIDR: `10.244.${name.at(-1)}.0/24` },
  };
}

const OBJECTS: ApiObject[] = [
  node("south-3", "south", { "wireguard-ip": "10.4.0.3/16", endpoint: "203.0.113.21:51820" }),
  node("north-1", "north", { "wireguard-ip": "10.4.0.2/16", endpoint: "203.0.113.11:51820" }),
  node("north-2", "north", { "wireguard-ip": "", endpoint: "203.0.113.12:51820" }),
  node("home-5", "home", { key: "K=", "wireguard-ip": "10.4.0.1/16", endpoint: "192.168.1.11:51820" }),
  node("spare-9", "north", {
    "discovered-endpoints": JSON.stringify({ "K=": { IP: "198.51.100.7", Port: 51820, Zone: "" } }),
  }),
  {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: { name: "laptop" },
    spec: { allowedIPs: ["10.5.0.1/32"] },
  },
];

test("the table has a row for each source and a column for each destination", () => {
  const paths = [checked("a", "b", 0.512), checked("b", "a", undefined), checked("a", "long-name", 12.4)];
  assert.equal(
    pathTable(paths),
    [
      "from \\ to     b     a  long-name",
      "a          0.51     ·         12",
      "b             ·  FAIL          ·",
    ].join("\n"),
  );
  assert.equal(pathSummary(paths), "2/3 paths ok");
});

test("columns stand in the order that is asked for", () => {
  const paths = [checked("a", "b", 1), checked("b", "a", 2)];
  assert.equal(
    pathTable(paths, ["a", "b"]),
    "from \\ to     a     b\na             ·  1.00\nb          2.00     ·",
  );
});

describe("the picture", () => {
  test("shows segments side by side, leaders starred, tunnels and peers", () => {
    assert.equal(drawPicture(pictureOf(OBJECTS, "10.4.0.0/16"), 120), WIDE);
  });

  test("breaks into rows on a narrow terminal", () => {
    const lines = drawPicture(pictureOf(OBJECTS, "10.4.0.0/16"), 70).split("\n");
    assert.ok(lines.filter((line) => line.includes("┌─")).length >= 2);
    for (const line of lines.filter((line) => /[┌│└]/.test(line))) assert.ok(line.length <= 70, line);
  });

  test("is drawn of nothing too", () => {
    const text = drawPicture({ subnet: "10.4.0.0/16", segments: [], peers: [] });
    assert.match(text, /^══ WireGuard, 10\.4\.0\.0\/16/);
  });
});

test("steps are one line each, with their time; a terminal sees them go on", () => {
  let time = 0;
  const write = (isTerminal: boolean): string => {
    let text = "";
    time = 0;
    const steps = terminalSteps(
      (part) => {
        text += part;
      },
      isTerminal,
      () => time,
    );
    steps.begin("cables");
    time = 1500;
    steps.begin("paths");
    steps.note("3/9");
    time = 1700;
    steps.end();
    steps.end();
    return text;
  };
  assert.equal(write(false), "  cables  1.5 s\n  paths 3/9  0.2 s\n");
  assert.ok(write(true).startsWith("\r\x1b[K  cables …\r\x1b[K  cables  1.5 s\n"));
});

test("steps that begin after the signal are not shown", () => {
  const shown: string[] = [];
  const stop = new AbortController();
  const steps = stepsUntil(stop.signal, {
    begin: (title) => shown.push(`begin ${title}`),
    note: (progress) => shown.push(progress),
    end: () => shown.push("end"),
  });
  steps.begin("cables");
  stop.abort();
  steps.note("3/9");
  steps.begin("paths");
  steps.end();
  assert.deepEqual(shown, ["begin cables"]);
});

const WIDE = [
  "┌─ home ──────────────────────────┐  ┌─ north ───────────────────┐  ┌─ south ───────────────────┐",
  "│ ★ home-5                        │  │ ★ north-1                 │  │ ★ south-3                 │",
  "│     pods 10.244.5.0/24          │  │     pods 10.244.1.0/24    │  │     pods 10.244.3.0/24    │",
  "│     tunnel 10.4.0.1             │  │     tunnel 10.4.0.2       │  │     tunnel 10.4.0.3       │",
  "│     at 198.51.100.7:51820 (NAT) │  │     at 203.0.113.11:51820 │  │     at 203.0.113.21:51820 │",
  "│                                 │  │   north-2                 │  │                           │",
  "│                                 │  │     pods 10.244.2.0/24    │  │                           │",
  "│                                 │  │   spare-9                 │  │                           │",
  "│                                 │  │     pods 10.244.9.0/24    │  │                           │",
  "└─────────────────────────────────┘  └───────────────────────────┘  └───────────────────────────┘",
  "    ║                                    ║                              ║",
  "══ WireGuard, 10.4.0.0/16: every ★ has a tunnel to every other ★ ════════════════════════════════",
  "    ┊ laptop (external peer, 10.5.0.1/32): a tunnel to every ★",
].join("\n");
