/** What stands behind a plan: what is left out or wrong, what hangs on names, what lies inside something else. */
import type { NestedPrefix, Problem, UnresolvedName } from "../../mesh/index.ts";
import { compareBy, nameIdentity, problemIdentity } from "./compare.ts";
import { folded, section } from "./section.ts";

/** How many objects of which other kinds stood in the input. */
export type Ignored = ReadonlyMap<string, number>;

export interface Remarked {
  readonly problems: readonly Problem[];
  readonly unresolved: readonly UnresolvedName[];
  readonly nested?: readonly NestedPrefix[] | undefined;
}

/** Sections of one plan; what would be empty is left out, but for the first. */
export function remarks(plan: Remarked, ignored: Ignored): string[] {
  return remarkSections("Left out or wrong, and why", {
    wrong: [...listedProblems(plan).map(problemText), ...ignoredTexts(ignored)],
    names: plan.unresolved.map(unresolvedText),
    nested: (plan.nested ?? []).map(nestedText),
  });
}

/** Sections of a plan beside another: `+` before what is new, `-` before what is gone, nothing before what stays. */
export function comparedRemarks(plan: Remarked, other: Remarked, ignored: Ignored): string[] {
  return remarkSections("Left out or wrong, and why (+ new, - gone)", {
    wrong: [
      ...marked(listedProblems(plan), listedProblems(other), problemIdentity, problemText),
      ...ignoredTexts(ignored).map((text) => `  ${text}`),
    ],
    names: marked(plan.unresolved, other.unresolved, nameIdentity, unresolvedText),
    nested: marked(plan.nested ?? [], other.nested ?? [], nestedText, nestedText),
  });
}

function remarkSections(
  title: string,
  texts: { readonly wrong: string[]; readonly names: string[]; readonly nested: string[] },
): string[] {
  const sections: [string, string[]][] = [
    [title, texts.wrong],
    ["Decisions that hang on names without address", texts.names],
    ["Prefixes inside others (both stay, the longest match wins)", texts.nested],
  ];
  return sections
    .filter(([, lines], index) => index === 0 || lines.length > 0)
    .map(([heading, lines]) =>
      section(
        heading,
        lines.flatMap((line) => foldedRemark(line)),
      ),
    );
}

/** A mark and the blank behind it stay in front. */
function foldedRemark(line: string): string[] {
  const mark = /^[+\- ] /.exec(line)?.[0] ?? "";
  const [first = "", ...more] = folded(line.slice(mark.length), 2 + mark.length);
  return [`${mark}${first}`, ...more];
}

function marked<T>(
  now: readonly T[],
  other: readonly T[],
  identity: (element: T) => string,
  text: (element: T) => string,
): string[] {
  const { isNew, isGone } = compareBy(now, other, identity);
  return [
    ...now.map((element) => `${isNew(element) ? "+" : " "} ${text(element)}`),
    ...other.filter(isGone).map((element) => `- ${text(element)}`),
  ];
}

/** One cause, one line: names have a section of their own, and why the host takes no part stands in the headline. */
function listedProblems({ problems }: Remarked): Problem[] {
  return problems.filter(({ object, reason }) => reason !== "name-unresolved" && object.kind !== "Host");
}

/** A problem in one line, with the code that logs and metrics use. */
export function problemText({ object, reason, message }: Problem): string {
  const name = object.kind === "Option" ? `--${object.name}` : object.name;
  return `${object.kind} ${name}: ${message} (${reason})`;
}

function unresolvedText({ name, owner, decidesLeaderOf }: UnresolvedName): string {
  const leader = decidesLeaderOf === undefined ? "" : `, and who leads ${decidesLeaderOf}`;
  return `${name}: where ${owner.kind} ${owner.name} is reached${leader} (--resolve ${name}=IP)`;
}

function nestedText({ inner, innerOwner, outer, outerOwner, count: number }: NestedPrefix): string {
  const more = number > 1 ? ` and ${number - 1} more` : "";
  const held = `${outer.text} of ${outerOwner.kind} ${outerOwner.name}`;
  return `${inner.text} of ${innerOwner.kind} ${innerOwner.name}${more}, in ${held}`;
}

function ignoredTexts(ignored: Ignored): string[] {
  return [...ignored].map(([kind, number]) => `${count(number, "object")} of kind ${kind}`);
}

/** `1 node`, `2 nodes`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
