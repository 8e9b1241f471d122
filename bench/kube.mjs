// What the client of src/kube costs: memory and CPU of a process that keeps nodes and peers, beside an empty Node.js.
// usage: node bench/kube.mjs [NODES] [PEERS] [SECONDS of 20 updates a second]     default: 500 200 20
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);
const [nodes = 500, peers = 200, seconds = 20] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "kilomesh-bench-"));
const FLAGS = ["--optimize-for-size", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** [name, flags of node, mode of the agent] */
const RUNS = [
  ["empty process, node:https loaded", [], "empty"],
  ["pages", [], "pages"],
  ["pages, node's flags", FLAGS, "pages"],
  ["WatchList, node's flags", FLAGS, "watchlist"],
];

try {
  await bundle("server");
  await bundle("agent");
  const server = spawn(process.execPath, [join(folder, "server.cjs"), folder, nodes, peers], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [url, bytes] = (await firstLine(server)).split(" ");
  console.log(
    `${nodes} nodes of ${bytes} bytes, ${peers} peers; then ${seconds} s of 20 node updates a second`,
  );
  console.log(
    "                                  synced: RSS  anon  peak MB  CPU ms  ms | after updates: RSS  anon MB  CPU ms",
  );
  for (const [name, flags, mode] of RUNS) {
    const agent = spawn(process.execPath, [...flags, join(folder, "agent.cjs"), url, folder, mode, seconds], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const synced = JSON.parse(await firstLine(agent));
    if (mode !== "empty") server.stdin.write(`${seconds}\n`);
    const after = JSON.parse(await firstLine(agent));
    console.log(
      `${name.padEnd(40)} ${column(synced.rss)} ${column(synced.anon)} ${column(synced.peak)} ${column(synced.cpu, 0)} ` +
        `${column(synced.ms, 0)} | ${column(after.rss).padStart(18)} ${column(after.anon)} ${column(after.cpu, 0)}`,
    );
  }
  server.stdin.end();
} finally {
  rmSync(folder, { recursive: true });
}

/** One minified CommonJS file, as the product is built. */
async function bundle(name) {
  await build({
    entryPoints: [join(root, "bench/kube", `${name}.mjs`)],
    outfile: join(folder, `${name}.cjs`),
    bundle: true,
    minify: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "warning",
  });
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (chunk) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end < 0) return;
      child.stdout.off("data", onData);
      resolve(text.slice(0, end));
    };
    child.stdout.on("data", onData);
    child.on("exit", (code) => reject(new Error(`the bench's process ended with ${code}`)));
  });
}

function column(value, digits = 1) {
  return value.toFixed(digits).padStart(6);
}
