/** kg: the agent and its verbs. */
import { faultText, main, processIo } from "../src/cli/index.ts";

// Node.js would print the source line first, which in a bundle is all of it.
process.on("uncaughtException", (fault) => {
  process.stderr.write(`kg: fault of the program: ${faultText(fault)}\n`);
  process.exit(1);
});

main(process.argv.slice(2), processIo()).then((exitCode) => {
  // Not process.exit: what was written to a pipe has to arrive first. A loss of output that was noticed before stays a failure.
  process.exitCode ||= exitCode;
});
