/** Runs the whole program in a test, on the examples. */
import { main } from "./index.ts";
import { processIo } from "./io.ts";

export const TWO_PLACES = "docs/examples/two-places.yaml";
export const BEHIND_NAT = "docs/examples/behind-nat.yaml";
export const MISTAKES = "docs/examples/mistakes.yaml";

const REAL = processIo();

/** Runs the program with this standard input; files are the real ones. */
export async function kg(args: readonly string[], standardInput = "") {
  const output = { stdout: "", stderr: "" };
  const status = await main(args, {
    ...REAL,
    stdout: (text) => {
      output.stdout += text;
    },
    stderr: (text) => {
      output.stderr += text;
    },
    read: async (path, limit) => (path === "-" ? standardInput : REAL.read(path, limit)),
  });
  return { status, ...output };
}
