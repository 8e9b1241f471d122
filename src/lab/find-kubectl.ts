/** A kubectl for those who play with the demo. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Milliseconds for `kubectl version --client`, which takes 0.1 s; a machine under load needs more, and the demo is not to wait for one that hangs. */
const LIMIT = 5000;

/**
 * The path of a kubectl that all suggested commands work with, on the PATH or fetched before; undefined when there is none. Fetches nothing.
 * @param script path of scripts/kubectl.sh
 */
export async function findKubectl(script: string): Promise<string | undefined> {
  try {
    const { stdout } = await run("sh", [script, "--present"], { timeout: LIMIT });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
