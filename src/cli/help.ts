/** Help texts, made from the tables that also do the work. */
import type { Flag, FlagTable } from "./flags.ts";
import type { Verb } from "./verb.ts";
import { WIDTH, wrap } from "./wrap.ts";

/** `kg help`: what there is, and the flags of the program without a verb. */
export function programHelp(program: string, verbs: readonly Verb[]): string {
  const named = verbs.filter(({ name }) => name !== "");
  const widest = Math.max(...named.map(({ name }) => name.length));
  const root = verbs.find(({ name }) => name === "");
  return [
    "Usage:",
    ...verbs.map(({ usage }) => `  ${program} ${usage}`),
    "",
    ...(root === undefined ? [] : [...wrap(root.summary, WIDTH), ""]),
    "Verbs:",
    ...named.map(({ name, summary }) => `  ${name.padEnd(widest)}  ${summary}`),
    "",
    `\`${program} help VERB\` says more about one, \`${program} help agent\` about ${program} without a verb.`,
    ...(root === undefined ? [] : ["", "Flags:", ...flagLines(root.flags)]),
    "",
  ].join("\n");
}

/** `kg help VERB`. */
export function verbHelp(program: string, verb: Verb): string {
  const notes = verb.notes === undefined ? [] : [...wrap(verb.notes, WIDTH), ""];
  const flags = Object.keys(verb.flags).length === 0 ? [] : ["Flags:", ...flagLines(verb.flags), ""];
  return [`Usage:\n  ${program} ${verb.usage}\n`, ...wrap(verb.summary, WIDTH), "", ...notes, ...flags].join(
    "\n",
  );
}

/** Flag and meaning, one below the other where they do not fit side by side. */
function flagLines(table: FlagTable): string[] {
  return Object.values(table).flatMap((flag) => {
    const shown = flag.shown === undefined ? "" : ` (default ${flag.shown})`;
    return [
      `  ${flagForm(flag)}`,
      ...wrap(`${flag.help}${shown}`, WIDTH - 8).map((line) => `        ${line}`),
    ];
  });
}

function flagForm(flag: Flag<unknown>): string {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  return `${short}--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`;
}
