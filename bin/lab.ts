/** lab: the demo, and the hidden verbs of the processes that run inside a lab. */

const HELP = `Usage:
  lab demo [FLAGS]     a real mesh on this machine (root); lab demo --help tells more
`;

// Each verb loads only what it needs: a lab starts many probers, and each should start at once.
async function main(verb: string | undefined, rest: readonly string[]): Promise<number> {
  switch (verb) {
    case "demo": {
      const { demo } = await import("../src/lab/demo-verb.ts");
      return demo(rest);
    }
    case "prober": {
      const { runProber } = await import("../src/lab/prober/index.ts");
      await runProber();
      return 0;
    }
    case "apiserver": {
      const { serveApi } = await import("../src/lab/serve-api.ts");
      await serveApi(rest[0] ?? "");
      return 0;
    }
    case "help":
    case "--help":
    case "-h": {
      process.stdout.write(HELP);
      return 0;
    }
    default: {
      const what = verb === undefined ? "no verb is given" : `there is no verb ${verb}`;
      console.error(`lab: cannot start: ${what}\n${HELP}`);
      return 2;
    }
  }
}

main(process.argv[2], process.argv.slice(3)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    console.error(`lab: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  },
);
