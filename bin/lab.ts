/** lab: the demo, and the hidden verbs of the processes that run inside a lab. */

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
    default:
      console.error(
        `lab: cannot ${verb ?? "start"}: there is no such verb (usage: lab demo [--once] [--wireguard=kernel])`,
      );
      return 2;
  }
}

main(process.argv[2], process.argv.slice(3)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
