// The documents speak of what is there: links lead somewhere, and files that are named exist.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { documents, readDocument } from "./support/documents.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const layers = [
  "wire",
  "protocol",
  "schema",
  "session",
  "push",
  "server",
  "pipe",
  "auth",
  "http",
  "node",
  "fetch",
  "stdio",
  "testing",
].join("|");
const sourceFile = new RegExp(`\`((?:${layers})/[\\w./-]+\\.ts)\``, "g");

test.each(documents)("%s links to files that exist", (path) => {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const links = [...readDocument(path).matchAll(/\]\((?!https?:)([^)#]+)/g)];
  expect(links.map(([, target]) => `${folder}${target}`).filter(isMissing)).toEqual([]);
});

test.each(documents)("%s names files of the source and of the tests that exist", (path) => {
  const text = readDocument(path);
  const sources = [...text.matchAll(sourceFile)].map(([, file]) => `src/${file}`);
  const others = [...text.matchAll(/`((?:src|test|spec|scripts)\/[\w./-]+\.\w+)`/g)].map(([, file]) => file);
  expect([...sources, ...others].filter(isMissing)).toEqual([]);
});

test("docs/explanation/parity.md names for every member and behaviour the test that shows it, or what brings it", () => {
  const rows = readDocument("docs/explanation/parity.md")
    .split("\n")
    .filter((line) => /^\| (?!(?:member|behaviour) |-)/.test(line));
  const lastCells = rows.map((row) => row.split("|").at(-2)?.trim() ?? "");
  expect(lastCells.filter((cell) => !/^(?:`test\/.*\.ts`|later: [a-zA-Z ]+)$/.test(cell))).toEqual([]);
});

test("SECURITY.md is in the package, and reports can be made where package.json says", () => {
  const parsed = JSON.parse(readDocument("package.json")) as Record<string, unknown>;
  const { files, repository, bugs, homepage } = parsed;
  expect(files).toContain("SECURITY.md");
  const { url } = repository as { url: string };
  const address = url.replace(/^git\+/, "").replace(/\.git$/, "");
  expect([bugs, homepage].every((link) => String(link).startsWith(address))).toBe(true);
  expect(readDocument("SECURITY.md")).toContain(`${address}/security/advisories/new`);
});

function isMissing(path: string | undefined): boolean {
  return path === undefined || !existsSync(root + path);
}
