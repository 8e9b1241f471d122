// Runs the tests of one suite in one process: bundles every *.test.ts below the given folders, then node's own runner.
// usage: node scripts/test.mjs NAME FOLDER... [-- FILTER]     (FILTER: part of a file's path)
// Ends with "NAME: N passed, N failed". No test at all, a skipped test and a test that is left "to do" are failures.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { countsFile, SUITES } from "./suites.mjs";

/** The longest suite takes about five minutes on two cores; one that takes four times that hangs. */
const LIMIT_MINUTES = 20;

/** A test that failed may leave a daemon behind, and one that outlives its agent outlives the tests too: what is in their namespaces ends with them. */
const RUN_AND_TIDY = `"$@"
status=$?
net=$(readlink /proc/$$/ns/net)
mnt=$(readlink /proc/$$/ns/mnt)
for process in /proc/[0-9]*; do
  pid=\${process#/proc/}
  [ "$pid" = $$ ] || [ "$pid" = $PPID ] && continue
  [ "$(readlink $process/ns/net)" = "$net" ] || [ "$(readlink $process/ns/mnt)" = "$mnt" ] || continue
  kill -9 "$pid" 2>/dev/null
done
exit $status`;

const root = dirname(import.meta.dirname);
const [suite, ...rest] = process.argv.slice(2);
const split = rest.indexOf("--");
const folders = split < 0 ? rest : rest.slice(0, split);
const filter = split < 0 ? "" : (rest[split + 1] ?? "");
if (suite === undefined || folders.length === 0) {
  console.error("usage: node scripts/test.mjs NAME FOLDER... [-- FILTER]");
  process.exit(2);
}

const files = folders
  .flatMap((folder) => testFiles(join(root, folder)))
  .filter((file) => relative(root, file).includes(filter))
  .sort();
const bundle = join(root, ".build", `${suite}.test.mjs`);
const report = join(root, ".build", `${suite}.report`);
mkdirSync(dirname(bundle), { recursive: true });
for (const old of [countsFile(suite), report]) rmSync(old, { force: true });
if (files.length === 0) {
  console.error(`cannot run suite ${suite}: no *.test.ts below ${folders.join(", ")} matches "${filter}"`);
  process.exit(conclude({ passed: 0, failed: 0 }, 1));
}
await bundleTests();
const status = runTests();
process.exit(conclude(readReport(), status));

async function bundleTests() {
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
}

function runTests() {
  const node = [
    process.execPath,
    "--enable-source-maps",
    ...reporter("spec", "stdout"),
    ...reporter("./scripts/reporter.mjs", report),
    bundle,
  ];
  const [command, ...args] = [...isolation(), ...node];
  const run = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    timeout: LIMIT_MINUTES * 60_000,
    killSignal: "SIGKILL",
  });
  if (run.error?.code === "ETIMEDOUT")
    console.error(`suite ${suite}: not done after ${LIMIT_MINUTES} minutes, killed`);
  else if (run.error !== undefined) console.error(`cannot run suite ${suite}: ${run.error.message}`);
  return run.status ?? 1;
}

function reporter(name, destination) {
  return [`--test-reporter=${name}`, `--test-reporter-destination=${destination}`];
}

/** The command that puts the tests into namespaces of their own, for folders that say so in SUITES. */
function isolation() {
  const isolated = Object.values(SUITES).find(
    (known) =>
      known.unshare !== undefined &&
      folders.some((folder) => known.folders.some((own) => isBelow(folder, own))),
  );
  if (isolated === undefined) return [];
  if (process.getuid() !== 0) {
    console.error(`cannot run suite ${suite}: it makes network namespaces and needs root (run it with sudo)`);
    process.exit(conclude({ passed: 0, failed: 0 }, 1));
  }
  const hide = isolated.hide === undefined ? "" : `mount -t tmpfs tmpfs ${isolated.hide} || exit 1`;
  if (isolated.hide !== undefined) mkdirSync(isolated.hide, { recursive: true });
  return ["unshare", ...isolated.unshare, "sh", "-c", `${hide}\n${RUN_AND_TIDY}`, "sh"];
}

function isBelow(folder, own) {
  return !relative(own, folder).startsWith("..");
}

/** One line per test that ended, written as it ended: what a crash leaves is still counted. */
function readReport() {
  const lines = existsSync(report) ? readFileSync(report, "utf8").split("\n") : [];
  const passed = lines.filter((line) => line === "pass").length;
  return { passed, failed: lines.filter((line) => line !== "" && line !== "pass").length };
}

/** Prints and keeps the counts; the exit code is 0 only when something ran and nothing of it failed. */
function conclude({ passed, failed }, exitCode) {
  if (passed + failed === 0) console.error(`suite ${suite}: no test ran`);
  const unwell = exitCode !== 0 || passed + failed === 0;
  const counts = { passed, failed: unwell ? Math.max(failed, 1) : failed };
  writeFileSync(countsFile(suite), `${JSON.stringify(counts)}\n`);
  console.log(`${suite}: ${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

function testFiles(folder) {
  if (!existsSync(folder)) return [];
  const found = [];
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry);
    if (statSync(path).isDirectory()) found.push(...testFiles(path));
    else if (entry.endsWith(".test.ts")) found.push(path);
  }
  return found;
}
