// Reads the project's documents: their tables and their code samples.
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/** Every document of the project. */
export const documents: readonly string[] = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "examples/README.md",
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];

export function readDocument(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** The rows of the first table after `heading`, as cells by column, without the marks for code. */
export function readTable(path: string, heading: string): Record<string, string>[] {
  const section = readDocument(path).split(`\n## ${heading}\n`)[1];
  if (section === undefined) throw new Error(`${path} has no section "${heading}"`);
  const lines = section.split("\n");
  const start = lines.findIndex((line) => line.startsWith("|"));
  const length = lines.slice(start).findIndex((line) => !line.startsWith("|"));
  const [columns = [], , ...rows] = lines.slice(start, start + length).map(cellsOf);
  return rows.map((cells) =>
    Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""])),
  );
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim().replaceAll("`", ""));
}

/** A code sample, and where it is. */
export interface Sample {
  readonly name: string;
  readonly code: string;
}

/** The blocks of code in one language, in order. */
export function readBlocks(path: string, language: string): string[] {
  const blocks = readDocument(path).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  return [...blocks].map((block) => block[1] ?? "");
}

/** The ```ts blocks of a document. */
export function readSamples(path: string): Sample[] {
  return readBlocks(path, "ts").map((code, index) => ({ name: `${path}, sample ${index + 1}`, code }));
}

/** The ```ts blocks in the doc comments of a source file. */
export function readExamples(path: string): Sample[] {
  const blocks = readDocument(path).matchAll(/^ *\* ```ts\n([^]*?)^ *\* ```$/gm);
  return [...blocks].map((block, index) => ({
    name: `${path}, example ${index + 1}`,
    code: (block[1] ?? "").replaceAll(/^ *\* ?/gm, ""),
  }));
}
