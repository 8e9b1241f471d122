// The suites of this repository: which folders they test, and what they have to be kept apart from.
// usage: node scripts/suites.mjs [NAME...]     runs them; default: all but unit, which `make check` runs
//        node scripts/suites.mjs --list        names those that are there
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);

/**
 * A suite whose folder does not exist is not there yet and is left out. `unshare`: options of unshare(1) for a suite that needs
 * namespaces of its own; `hide`: a folder that is an empty tmpfs inside them, so that sockets of the host are neither seen nor made.
 * `kubectl`: a new enough one has to be on the PATH.
 */
export const SUITES = {
  unit: { folders: ["src", "test/house"] },
  linux: { folders: ["test/linux"], unshare: ["--net", "--mount"] },
  "linux-device": {
    folders: ["test/linux-device"],
    unshare: ["--net", "--mount", "--fork", "--kill-child"],
    hide: "/run/wireguard",
  },
  apiserver: { folders: ["test/apiserver"] },
  contract: { folders: ["test/contract"] },
  oracle: { folders: ["test/oracle"] },
  lab: { folders: ["test/lab"], kubectl: true },
};

/** Where a suite leaves its counts, as `{"passed":N,"failed":N}`. A skipped test counts as failed. */
export function countsFile(suite) {
  return join(root, ".build", `${suite}.counts`);
}

if (process.argv[1] === import.meta.filename) process.exit(main(process.argv.slice(2)));

function main(args) {
  if (args[0] !== "--list") return runAll(args);
  for (const name of Object.keys(SUITES).filter(isPresent)) console.log(name);
  return 0;
}

function isPresent(name) {
  return SUITES[name].folders.every((folder) => existsSync(join(root, folder)));
}

function runAll(named) {
  const unknown = named.find((name) => !(name in SUITES));
  if (unknown !== undefined) {
    console.error(`cannot run suite ${unknown}: no such suite (there are ${Object.keys(SUITES).join(", ")})`);
    return 2;
  }
  const others = Object.keys(SUITES).filter((name) => name !== "unit" && isPresent(name));
  const results = (named.length > 0 ? named : others).map(runOne);
  if (results.length > 1) summarize(results);
  const ok = results.length > 0 && results.every(({ failed }) => failed === 0);
  return ok ? 0 : 1;
}

/** The environment with the folder of a new enough kubectl first on its PATH; as it is where there is none to be had: tests say so. */
function withKubectl(env) {
  const found = spawnSync("sh", [join(root, "scripts/kubectl.sh")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const path = found.stdout.trim();
  return found.status === 0 ? { ...env, PATH: `${dirname(path)}:${env.PATH}` } : env;
}

function summarize(results) {
  console.log("");
  for (const { name, passed, failed } of results) console.log(`${name}: ${passed} passed, ${failed} failed`);
  const sum = (field) => results.reduce((total, result) => total + result[field], 0);
  console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
}

function runOne(name) {
  rmSync(countsFile(name), { force: true });
  console.log(`\n== suite ${name} (${SUITES[name].folders.join(", ")})`);
  const script = join(root, "scripts/test.mjs");
  const run = spawnSync(process.execPath, [script, name, ...SUITES[name].folders], {
    cwd: root,
    stdio: "inherit",
    env: SUITES[name].kubectl ? withKubectl(process.env) : process.env,
  });
  const counts = existsSync(countsFile(name))
    ? JSON.parse(readFileSync(countsFile(name), "utf8"))
    : { passed: 0, failed: 0 };
  const failed = run.status === 0 ? counts.failed : Math.max(counts.failed, 1);
  return { name, passed: counts.passed, failed };
}
