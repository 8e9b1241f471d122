/** A fresh machine has no kubectl, and the demo suggests it: people are told which one to take, or how to get one. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kubectlLines } from "./demo-text.ts";
import { findKubectl } from "./find-kubectl.ts";

const SCRIPT = "scripts/kubectl.sh";

describe("the kubectl of the demo", () => {
  const { PATH, KILOMESH_KUBECTL, KILOMESH_KUBECTL_CACHE } = process.env;
  const kept = { PATH, KILOMESH_KUBECTL, KILOMESH_KUBECTL_CACHE };
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kubectl-"));
    mkdirSync(join(folder, "bin"));
    delete process.env.KILOMESH_KUBECTL;
    process.env.KILOMESH_KUBECTL_CACHE = join(folder, "cache");
    process.env.PATH = `${join(folder, "bin")}:${kept.PATH}`;
  });

  after(() => {
    for (const [name, value] of Object.entries(kept)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** A kubectl in front of all others that is of this minor version. */
  function install(minor: number): string {
    const path = join(folder, "bin/kubectl");
    writeFileSync(path, `#!/bin/sh\necho '{"clientVersion": {"minor": "${minor}"}}'\n`);
    chmodSync(path, 0o755);
    return path;
  }

  test("one that is too old counts for nothing, and nothing is fetched", async () => {
    install(20);
    assert.equal(await findKubectl(SCRIPT), undefined);
  });

  test("one that is new enough is taken", async () => {
    const path = install(31);
    assert.equal(await findKubectl(SCRIPT), path);
  });

  test("one that was fetched before is taken", async () => {
    install(20);
    const cache = join(folder, "cache/v35-2.2.2");
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "kubectl"), "#!/bin/sh\n", { mode: 0o755 });
    assert.equal(await findKubectl(SCRIPT), join(cache, "kubectl"));
  });

  test("is named when it is on the PATH, else put there; without one, the script that fetches it is named", () => {
    assert.deepEqual(kubectlLines("/usr/bin/kubectl", "/scripts/kubectl.sh", "/bin:/usr/bin"), [
      "  # kubectl is /usr/bin/kubectl",
    ]);
    assert.deepEqual(kubectlLines("/cache/kubectl", "/scripts/kubectl.sh", "/bin:/usr/bin"), [
      "  export PATH=/cache:$PATH  # kubectl is there",
    ]);
    const none = kubectlLines(undefined, "/scripts/kubectl.sh").join("\n");
    assert.match(none, /kubectl is not installed.*; \/scripts\/kubectl\.sh fetches one and prints its path/);
  });
});
