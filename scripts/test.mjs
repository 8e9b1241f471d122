// Runs the tests of one suite in one process: bundles every *.test.ts below the given folders, then node's own runner.
// usage: node scripts/test.mjs NAME FOLDER... [-- FILTER]     (FILTER: part of a file's path)
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);
const [suite, ...rest] = process.argv.slice(2);
const split = rest.indexOf("--");
const folders = split < 0 ? rest : rest.slice(0, split);
const filter = split < 0 ? "" : (rest[split + 1] ?? "");

const files = folders
  .flatMap((folder) => testFiles(join(root, folder)))
  .filter((file) => file.includes(filter))
  .sort();
if (files.length === 0) {
  console.error(`cannot run suite ${suite}: no *.test.ts below ${folders.join(", ")} matches "${filter}"`);
  process.exit(1);
}
const bundle = join(root, ".build", `${suite}.test.mjs`);
mkdirSync(dirname(bundle), { recursive: true });
await build({
  stdin: { contents: files.map((file) => `import ${JSON.stringify(file)};`).join("\n"), resolveDir: root },
  outfile: bundle,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  sourcemap: "inline",
  define: { KILOMESH_VERSION: '"test"' },
  logLevel: "warning",
});
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test-reporter=spec", bundle], {
  cwd: root,
  stdio: "inherit",
});
process.exit(run.status ?? 1);

function testFiles(folder) {
  const found = [];
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry);
    if (statSync(path).isDirectory()) found.push(...testFiles(path));
    else if (entry.endsWith(".test.ts")) found.push(path);
  }
  return found;
}
