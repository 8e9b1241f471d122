// Measures the claims about one subject, one line each. The claims stand in bench/prove-WHAT.ts, which says by its exit code whether they hold.
// usage: node scripts/prove.mjs WHAT
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);
const what = process.argv[2] ?? "";
const source = join(root, "bench", `prove-${what}.ts`);
if (!/^[a-z-]+$/.test(what) || !existsSync(source)) {
  console.error(
    `cannot prove "${what}": give one of ${subjects().join(", ") || "(there is none yet)"}, as in make prove WHAT=mesh`,
  );
  process.exit(2);
}
const program = join(root, ".build", `prove-${what}.cjs`);
await build({
  entryPoints: [source],
  outfile: program,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  define: { KILOMESH_VERSION: '"prove"' },
  logLevel: "warning",
});
process.exit(spawnSync(process.execPath, [program], { cwd: root, stdio: "inherit" }).status ?? 1);

function subjects() {
  const bench = join(root, "bench");
  const files = existsSync(bench) ? readdirSync(bench) : [];
  const names = files.map((file) => /^prove-([a-z-]+)\.ts$/.exec(file)?.[1]);
  return names.filter((name) => name !== undefined);
}
