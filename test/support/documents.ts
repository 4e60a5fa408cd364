// Reads the project's documents: their tables and their code samples.
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/** Every document of the project, wherever it lies. */
export const documents: readonly string[] = markdownIn("");

/** The Markdown files of a folder and of those below it. */
function markdownIn(folder: string): string[] {
  return readdirSync(new URL(folder || ".", root), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory())
      return /^(?:\.|dist$|node_modules$)/.test(entry.name) ? [] : markdownIn(`${path}/`);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

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

/** The TypeScript files that a page tells its reader to save, by name. */
export function filesOfPage(path: string): ReadonlyMap<string, string> {
  const saved = readDocument(path).matchAll(/^.*[Ss]ave (?:this|it) as `(.+?)`.*:\n\n```ts\n([^]*?)^```$/gm);
  return new Map([...saved].map(([, name = "", code = ""]) => [name, code]));
}

/** The languages of all blocks of code in a document, in order; empty where none is named. */
export function languagesIn(path: string): string[] {
  const fences = [...readDocument(path).matchAll(/^ *```(.*)$/gm)].map(([, language]) => language ?? "");
  return fences.filter((_, index) => index % 2 === 0);
}

/** The anchors of the headings in a document, as GitHub makes them. */
export function anchorsIn(path: string): string[] {
  const prose = readDocument(path).replaceAll(/^```[^]*?^```$/gm, "");
  const slugs = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slugOf(heading ?? ""));
  return slugs.map((slug, index) => {
    const earlier = slugs.slice(0, index).filter((other) => other === slug).length;
    return earlier === 0 ? slug : `${slug}-${earlier}`;
  });
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** A link within the project: the file that it leads to, and the heading there. */
export interface Link {
  readonly file: string;
  readonly anchor: string | undefined;
}

/** Where files are that the package does not have. */
export const repositoryUrl = "https://github.com/halyard-mcp/halyard/blob/main/";

/** The links of a document to other documents and files, and to its own headings, also those by the address of the repository. */
export function linksIn(path: string): Link[] {
  const prose = readDocument(path)
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(`](${repositoryUrl}`, "](/");
  return targetsIn(prose).map(({ target, anchor }) => ({ file: resolveLink(path, target), anchor }));
}

/** The links of a document that stay within the package; its pictures are not there. */
export function packagedLinksIn(path: string): Link[] {
  const prose = readDocument(path).replaceAll(/^```[^]*?^```$/gm, "");
  return targetsIn(prose).map(({ target, anchor }) => ({ file: resolveLink(path, target), anchor }));
}

function targetsIn(prose: string): { target: string; anchor: string | undefined }[] {
  const links = prose.matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g);
  return [...links].map(([, target = "", anchor]) => ({ target, anchor }));
}

function resolveLink(from: string, target: string): string {
  return target === "" ? from : new URL(target, new URL(from, "file:///")).pathname.slice(1);
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
