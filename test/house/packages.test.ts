/** Dependencies are pinned: what was tested is what is installed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { read } from "./sources.ts";

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Record<
    string,
    { version?: string; integrity?: string; link?: boolean } & Partial<Manifest>
  >;
}

describe("packages", () => {
  const manifest: Manifest = JSON.parse(read("package.json"));
  const lock: Lock = JSON.parse(read("package-lock.json"));
  const named = { ...manifest.dependencies, ...manifest.devDependencies };

  it("package.json names exact versions, and the lock agrees", () => {
    assert.ok(Object.keys(named).length > 0);
    for (const [name, version] of Object.entries(named)) {
      assert.match(version, /^\d+\.\d+\.\d+$/, `${name} is not pinned`);
      assert.equal(
        lock.packages[`node_modules/${name}`]?.version,
        version,
        `${name}: lock and package.json differ`,
      );
    }
    assert.deepEqual(lock.packages[""]?.dependencies, manifest.dependencies);
    assert.deepEqual(lock.packages[""]?.devDependencies, manifest.devDependencies);
  });

  it("every package of the lock has a version and a checksum", () => {
    const installed = Object.entries(lock.packages).filter(([path]) => path !== "");
    assert.ok(installed.length >= Object.keys(named).length);
    for (const [path, entry] of installed) {
      assert.ok(
        entry.version !== undefined && entry.integrity?.startsWith("sha512-"),
        `${path} is not pinned`,
      );
    }
    assert.equal(lock.lockfileVersion, 3);
  });

  it("each direct dependency is in the table of decisions", () => {
    const table = read("docs/decisions/0002-dependencies.md");
    for (const name of Object.keys(named)) assert.ok(table.includes(`\`${name}\``), `${name} has no line`);
  });
});
