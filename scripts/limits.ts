// Writes docs/reference/limits.md from the options and constants of the source, with their doc comments and defaults.
// `npm run limits` renews it; with --check, it fails if the page differs.
import { readFileSync, writeFileSync } from "node:fs";
import { limitsOf } from "./limits/read.ts";
import { type Section, sections } from "./limits/sections.ts";
import { endWith } from "./outcome.ts";

const path = "docs/reference/limits.md";
const columns = ["limit", "default", "what it is", "past it"];

const intro = `# Limits

Look up every limit, its default, and what happens past it.

Names in \`code\` are options that you can change; the other limits are fixed. The program that writes this page reads all of them from
the source.

_Modern_ clients speak revision 2026-07-28 or later: every request stands alone. _Legacy_ clients speak an earlier revision: a
handshake opens a session.
`;

const next =
  "Next: [how limits are counted](../explanation/limits.md), or [what Halyard protects against](../../SECURITY.md).\n";

function pageOf(): string {
  return [intro, ...sections.map(sectionOf), next].join("\n");
}

function sectionOf({ heading, intro: introduction, rows }: Section): string {
  const lines = rows
    .flatMap(limitsOf)
    .map(({ name, value, what, past }) => lineOf([name, value, what, past]));
  const table = [lineOf(columns), lineOf(columns.map(() => "-")), ...lines];
  return `## ${heading}\n\n${introduction}\n\n${table.join("\n")}\n`;
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

if (process.argv.includes("--check")) {
  const isSame = readFileSync(path, "utf8") === pageOf();
  endWith(
    isSame ? [] : [`${path} differs from the source: run npm run limits`],
    "The limits are those of the source",
  );
} else {
  writeFileSync(path, pageOf());
}
