/** kg: the agent and its verbs. */
import { main, processIo } from "../src/cli/index.ts";

main(process.argv.slice(2), processIo()).then((exitCode) => {
  // Not process.exit: what was written to a pipe has to arrive first.
  process.exitCode = exitCode;
});
