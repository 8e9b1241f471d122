/** docs/flags-and-annotations.md says what the code does. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UsageError } from "../../src/cli/errors.ts";
import { parseFlags } from "../../src/cli/flags.ts";
import { agentOptions, KG_FLAGS } from "../../src/cli/kg-flags.ts";
import { KILO_FLAGS } from "../../src/cli/kilo-flags.test-kit.ts";
import { AGENT_ANNOTATION, ANNOTATIONS, OWN_ANNOTATIONS } from "../../src/mesh/index.ts";
import { read } from "./sources.ts";

const DOCUMENT = "docs/flags-and-annotations.md";

describe("the tables of flags and annotations", () => {
  it("have a row for each flag, with its default, and call ours those that Kilo has not", () => {
    const rows = tableBelow("## Flags of the agent");
    assert.deepEqual(
      rows.map(([name, shown]) => [bare(name), shown === "—" ? undefined : bare(shown)]),
      Object.values(KG_FLAGS)
        .map(({ name, shown }) => [`--${name}`, shown])
        .sort(byFirst),
    );
    const ours = rows.filter(([, , state]) => state === "ours").map(([name]) => bare(name));
    assert.deepEqual(
      ours,
      rows.map(([name]) => bare(name)).filter((name) => !(name.replace("--", "") in KILO_FLAGS)),
    );
  });

  it("name each value that kg refuses at start, with its very message", () => {
    const found = choices().flatMap((given) => {
      const message = refusal(given);
      return message === undefined ? [] : [[`\`${given}\``, message]];
    });
    assert.ok(found.length >= 5, "no refusals found");
    assert.deepEqual(tableBelow("### What is refused"), found.sort(byFirst));
    const states = new Map(tableBelow("## Flags of the agent").map(([name, , state]) => [bare(name), state]));
    const refused = new Set(found.map(([given]) => bare(given).split("=")[0] ?? ""));
    const said = [...states].filter(([, state]) => state === "refused" || state === "partly");
    assert.deepEqual(
      said.map(([name]) => name),
      [...refused].sort(),
    );
  });

  it("have a row for each annotation, with who writes it", () => {
    const rows = tableBelow("## Annotations of Nodes").map(([name, writer]) => [bare(name), writer]);
    const names = [...Object.values(ANNOTATIONS), AGENT_ANNOTATION].sort();
    assert.deepEqual(
      rows,
      names.map((name) => [name, OWN_ANNOTATIONS.includes(name) ? "agent" : "admin"]),
    );
  });

  it("use only the states that are explained", () => {
    const text = read(DOCUMENT);
    const states = ["## Flags of the agent", "## Annotations of Nodes"].flatMap((heading) =>
      tableBelow(heading).map(([, , state]) => state),
    );
    for (const state of new Set(states)) assert.ok(text.includes(`**${state}**: `), state);
    const unexplained = ["## Flags of the agent", "## Annotations of Nodes"]
      .flatMap(tableBelow)
      .filter(([, , state, why]) => state !== "served" && why === "");
    assert.deepEqual(unexplained, []);
  });
});

/** Every flag with every value of the kinds that have few: switches and choices. */
function choices(): string[] {
  return Object.values(KG_FLAGS).flatMap(({ name, value }) => {
    if (value === undefined) return [`--${name}`, `--${name}=false`];
    return value.includes("|") ? value.split("|").map((word) => `--${name}=${word}`) : [];
  });
}

/** What kg says when it is started so, beside what it needs anyway. */
function refusal(given: string): string | undefined {
  const needed = given.startsWith("--encapsulate=") ? [] : ["--encapsulate=never"];
  try {
    agentOptions(parseFlags(KG_FLAGS, [...needed, given]).values, "host");
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/** The cells of the first table below a heading, without its head. */
function tableBelow(heading: string): string[][] {
  const text = read(DOCUMENT);
  const start = text.indexOf(`\n${heading}`);
  assert.ok(start >= 0, `${heading} is missing`);
  const lines = text.slice(start).split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith("|"));
  const rows = lines.slice(first + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  assert.ok(rows.length >= 3, `no rows below ${heading}`);
  return rows;
}

function bare(cell: string | undefined): string {
  return (cell ?? "").replaceAll("`", "");
}

function byFirst(
  [a = ""]: readonly (string | undefined)[],
  [b = ""]: readonly (string | undefined)[],
): number {
  return a < b ? -1 : 1;
}
