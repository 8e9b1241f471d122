/** Import direction (design, "The house"): dependencies point one way, top to bottom, and only through doors. */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { filesBelow, importsOf, read, resolveImport, rooms, withoutComments } from "./sources.ts";

/** Rooms above the line: none of them imports another, but `cli` may import all. */
const UPPER = ["agent", "clustermesh", "cilium", "webhook", "dashboard", "lab"];

/** Drivers and clients. They share only `telemetry`. */
const MIDDLE = ["linux", "kube", "telemetry"];

/** Pure rooms, top to bottom: each may import those that stand after it. */
const PURE = ["mesh", "health", "gossip", "wireguard", "ip"];

/** What a pure room must not touch: sockets, files, clocks, timers, randomness, environment. `crypto` comes in as an argument. */
const IMPURE =
  /\b(process|globalThis|setTimeout|setInterval|setImmediate|queueMicrotask|performance|fetch|crypto|console|require)\b\s*[.([]|\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bMath\s*\.\s*random\b|\bimport\s*\.\s*meta\b/;

describe("import direction", () => {
  it("every room has its place in the order", () => {
    const known = ["cli", ...UPPER, ...MIDDLE, ...PURE];
    assert.deepEqual(
      rooms().filter((room) => !known.includes(room)),
      [],
    );
    assert.ok(rooms().length >= 3, "no rooms found");
  });

  it("a room imports only rooms below it, and only by their index.ts", () => {
    const edges = allEdges();
    assert.ok(edges.length >= 50, `only ${edges.length} imports found: the scan is broken`);
    const across = edges.filter(({ from, to }) => from !== to);
    assert.ok(across.length >= 10, `only ${across.length} imports between rooms found: the scan is broken`);
    assert.deepEqual(across.filter(({ from, to }) => !mayImport(from, to)).map(describeEdge), []);
    assert.deepEqual(across.filter(({ to, path }) => path !== `src/${to}/index.ts`).map(describeEdge), []);
  });

  it("src imports nothing of test, bench, scripts or bin", () => {
    assert.deepEqual(
      outwardImports().filter(({ path }) => !path.startsWith("src/")),
      [],
    );
  });

  it("no source imports what is made for tests", () => {
    const files = sources("src");
    assert.ok(files.length >= 30, `only ${files.length} files found: the scan is broken`);
    const wrong = files.filter((file) =>
      relativeImports(file).some((path) => /\.test(-kit)?\.ts$/.test(path)),
    );
    assert.deepEqual(wrong, []);
  });

  it("a program imports only doors, or files of the room it is named after", () => {
    const wrong = filesBelow("bin", [".ts"]).flatMap((file) => {
      const own = `src/${basename(file, ".ts")}/`;
      const paths = relativeImports(file);
      assert.ok(paths.length > 0, `${file} imports nothing`);
      return paths.filter((path) => !path.startsWith(own) && !/^src\/[a-z]+\/index\.ts$/.test(path));
    });
    assert.deepEqual(wrong, []);
  });

  it("pure rooms use nothing but their own language", () => {
    const files = PURE.flatMap((room) => sources(`src/${room}`));
    assert.ok(files.length >= 10, `only ${files.length} files in pure rooms found: the scan is broken`);
    const wrong = files.flatMap((file) => [
      ...importsOf(read(file)).filter((specifier) => !specifier.startsWith(".")),
      ...(IMPURE.exec(withoutComments(read(file))) ?? []).slice(0, 1).map((found) => `${file}: ${found}`),
    ]);
    assert.deepEqual(wrong, []);
  });

  it("the rules themselves tell right from wrong", () => {
    const allowed = [
      ["cli", "agent"],
      ["agent", "linux"],
      ["agent", "mesh"],
      ["linux", "mesh"],
      ["kube", "telemetry"],
      ["mesh", "ip"],
    ];
    const forbidden = [
      ["agent", "cli"],
      ["agent", "lab"],
      ["linux", "agent"],
      ["linux", "kube"],
      ["mesh", "linux"],
      ["ip", "mesh"],
    ];
    for (const [from = "", to = ""] of allowed) assert.ok(mayImport(from, to), `${from} may import ${to}`);
    for (const [from = "", to = ""] of forbidden)
      assert.ok(!mayImport(from, to), `${from} must not import ${to}`);
    for (const text of ["Date.now()", "process.env", "setTimeout(f, 1)", "Math.random()", "new Date()"]) {
      assert.match(text, IMPURE);
    }
    assert.doesNotMatch("new Date(seconds * 1000)", IMPURE);
  });

  it("the scan finds every form of import, and none in comments", () => {
    const text = [
      'import a from "./a.ts";',
      'import {\n  b,\n  type C,\n} from "./b.ts";',
      'export * from "./c.ts";',
      'import "./d.ts";',
      'const e = await import("./e.ts");',
      '// import x from "./x.ts";',
      '/* export * from "./y.ts"; */',
      'const url = "http://z"; import type f from "./f.ts";',
    ].join("\n");
    assert.deepEqual(importsOf(text).sort(), ["./a.ts", "./b.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"]);
  });
});

interface Edge {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

function allEdges(): Edge[] {
  return outwardImports().flatMap(({ file, path }) => {
    const to = roomOf(path);
    return to === undefined ? [] : [{ file, path, from: roomOf(file) ?? "", to }];
  });
}

function outwardImports(): { file: string; path: string }[] {
  return filesBelow("src", [".ts"]).flatMap((file) => relativeImports(file).map((path) => ({ file, path })));
}

function relativeImports(file: string): string[] {
  const paths = importsOf(read(file)).map((specifier) => resolveImport(file, specifier));
  return paths.filter((path) => path !== undefined);
}

function sources(folder: string): string[] {
  return filesBelow(folder, [".ts"]).filter((file) => !/\.test(-kit)?\.ts$/.test(file));
}

function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

function mayImport(from: string, to: string): boolean {
  if (from === "cli") return true;
  if (PURE.includes(from)) return PURE.indexOf(to) > PURE.indexOf(from);
  if (MIDDLE.includes(from)) return PURE.includes(to) || (to === "telemetry" && from !== "telemetry");
  return UPPER.includes(from) && (MIDDLE.includes(to) || PURE.includes(to));
}

function describeEdge({ file, path }: Edge): string {
  return `${file} imports ${path}`;
}
