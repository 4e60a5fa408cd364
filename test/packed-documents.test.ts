// The documents are in the package: their links work where it is installed, without a network, and coding agents find an index.
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makeLlmsText } from "../scripts/llms.ts";
import { anchorsIn, documents, packagedLinksIn, readDocument } from "./support/documents.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const pack = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
const [{ files }] = JSON.parse(execFileSync("npm", pack, { cwd: root, encoding: "utf8" })) as [
  { files: { path: string; size: number }[] },
];
const packed = new Set(files.map(({ path }) => path));
const texts = [...packed].filter((path) => path.endsWith(".md") || path === "llms.txt");

/** Where `npm install halyard` puts what it installs, and the bytes of each file. */
function installedFiles(): Map<string, number> {
  const own = files.map(({ path, size }) => [`node_modules/halyard/${path}`, size] as const);
  const { dependencies } = JSON.parse(readDocument("package.json")) as { dependencies: object };
  const others = Object.keys(dependencies).flatMap((name) =>
    readdirSync(`${root}node_modules/${name}`, { recursive: true, encoding: "utf8" })
      .map((file) => `node_modules/${name}/${file}`)
      .filter((path) => statSync(root + path).isFile())
      .map((path) => [path, statSync(root + path).size] as const),
  );
  return new Map([...own, ...others]);
}

/** What `du` shows: files and folders take whole blocks of 4,096 bytes. */
function sizeOnDisk(installed: ReadonlyMap<string, number>): number {
  const folders = new Set<string>();
  for (const path of installed.keys())
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  const blocks = [...installed.values()].reduce((sum, size) => sum + Math.ceil(size / 4096), folders.size);
  return blocks * 4096;
}

describe("the package", () => {
  test("takes as much room as README says, within a tenth", () => {
    const [, stated] = /less than ([\d.]+) MB on disk/.exec(readDocument("README.md")) ?? [];
    const megabytes = sizeOnDisk(installedFiles()) / 1e6;
    expect(megabytes).toBeLessThanOrEqual(Number(stated));
    expect(megabytes).toBeGreaterThan(Number(stated) * 0.9);
  });

  test("has every page below docs/ but those on the source, and no picture", () => {
    const isInternal = (path: string): boolean => path.startsWith("docs/internals/");
    const pages = documents.filter((path) => path.startsWith("docs/") && !isInternal(path));
    expect([...packed].filter(isInternal)).toEqual([]);
    expect(pages.filter((page) => !packed.has(page))).toEqual([]);
    const others = [...packed].filter((path) => path.startsWith("docs/") && !path.endsWith(".md"));
    expect(others).toEqual([]);
  });

  test.each(texts)("has what %s links to", (path) => {
    const lost = packagedLinksIn(path).filter(
      ({ file, anchor }) =>
        !packed.has(file) || (anchor !== undefined && !anchorsIn(file).includes(decodeURIComponent(anchor))),
    );
    expect(lost).toEqual([]);
  });

  test("has an llms.txt that lists every page; `npm run llms` renews it", () => {
    expect(readDocument("llms.txt")).toBe(
      makeLlmsText(readDocument("README.md"), readDocument("docs/README.md")),
    );
    const listed = new Set(packagedLinksIn("llms.txt").map(({ file }) => file));
    const pages = [...packed].filter((path) => /^docs\/.*\/.*\.md$/.test(path));
    expect(pages.filter((page) => !listed.has(page))).toEqual([]);
  });
});
