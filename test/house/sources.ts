/** The repository as text, for the tests about the house: its files, and what they import. Paths are relative to the root. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Folders of code and tests that are written by hand. */
export const CODE = ["src", "bin", "bench", "test", "scripts"];

/** All files below a folder whose name ends so, sorted. Empty when there is no such folder. */
export function filesBelow(folder: string, endings: readonly string[]): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The folders directly below `src`. */
export function rooms(): string[] {
  const entries = readdirSync("src", { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** What a source text imports or exports from, types included, as written; also `import("…")` with a literal. */
export function importsOf(text: string): string[] {
  const code = withoutComments(text);
  const statement = /(?:^|[\s;}])(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/g;
  const bare = /(?:^|[\s;}])import\s*\(?\s*["']([^"']+)["']/g;
  return [statement, bare].flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ""));
}

/** A relative import as a path from the root; undefined for a package. */
export function resolveImport(file: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? normalize(join(dirname(file), specifier)) : undefined;
}

/** The text with comments blanked. Strings stay, so `//` in a string is told from a comment by what stands before it. */
export function withoutComments(text: string): string {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replace(tokens, (token) => (token.startsWith("/") ? " " : token));
}

export function read(file: string): string {
  return readFileSync(file, "utf8");
}
