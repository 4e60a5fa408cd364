// Writes llms.txt, the index that coding agents read: every page of docs/README.md, with paths from the root of the package.
// `npm run llms` renews it after a page was added, moved or renamed.
import { readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";

const intro = `The pages are Markdown files of this package. Functions and options have documentation, examples and defaults in \`dist/**/*.d.ts\`.`;

/** The text of llms.txt, made of the README and of the index of the documentation. */
export function makeLlmsText(readme: string, index: string): string {
  const [, summary = ""] = readme.split("\n\n");
  const sections = index.split(/^## /m).slice(1);
  const lists = sections.map((section) => {
    const [heading = ""] = section.split("\n", 1);
    const entries = section.split("\n").filter((line) => line.startsWith("- ["));
    return `## ${heading}\n\n${entries.map(fromRoot).join("\n")}\n`;
  });
  return `# Halyard\n\n> ${summary.replaceAll("\n", " ")}\n\n${intro}\n\n${lists.join("\n")}`;
}

function fromRoot(entry: string): string {
  return entry.replace(/\]\((?!\w+:)([^)]+)\)/, (_, path: string) => `](${posix.join("docs", path)})`);
}

if (process.argv[1] === import.meta.filename) {
  const read = (path: string): string => readFileSync(path, "utf8");
  writeFileSync("llms.txt", makeLlmsText(read("README.md"), read("docs/README.md")));
}
