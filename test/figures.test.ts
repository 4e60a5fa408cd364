// The figures of README.md are those of the last benchmark, rounded.
import { expect, test } from "vitest";
import { readDocument } from "./support/documents.ts";

const readme = readDocument("README.md").replaceAll("\n", " ").replaceAll(/ +/g, " ");
const sections = readDocument("bench/results.md").split("\n### ").slice(1);

/** The cells of one row of a table of results, such as the ratio of `halyard` to `baseline`. */
function cellsOf(heading: string, contender: string, against: string): string[] {
  const section = sections.find((one) => one.startsWith(heading)) ?? "";
  const rows = section.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  return rows.find((cells) => cells[1] === contender && cells.includes(against)) ?? [];
}

const call = "HTTP, tools/call echo, modern";
const list = "HTTP, tools/list of 100 tools, modern";
const ratios: readonly (readonly [
  stated: RegExp,
  heading: string,
  contender: string,
  against: string,
  digits: number,
])[] = [
  [/`tools\/call` over HTTP takes ([\d.]+) times/, call, "halyard", "baseline", 1],
  [/the official SDK takes ([\d.]+) times as much as Halyard/, call, "official v2", "halyard", 0],
  [/`tools\/list` with 100 tools ([\d.]+) times/, list, "halyard", "baseline", 1],
  [/the official SDK ([\d.]+) times as much/, list, "official v2", "halyard", 0],
  [/and ([\d.]+) times as much for 10,000/, "HTTP, one change to 10,000 listen", "halyard", "baseline", 1],
];

test.each(ratios)(
  "%s in README.md is the median of the benchmark",
  (stated, heading, contender, against, digits) => {
    const [, , , , median] = cellsOf(heading, contender, against);
    expect(stated.exec(readme)?.[1]).toBe(Number(median).toFixed(digits));
  },
);

test("README.md compares a change to 1,000 streams with a bare write as the benchmark does", () => {
  expect(readme).toContain("as much as a bare `write` per client for 1,000 open streams");
  const [, , , , median] = cellsOf("HTTP, one change to 1,000 listen", "halyard", "baseline");
  expect(Number(median)).toBeLessThanOrEqual(1.05);
});

test("README.md rounds the heap of an idle session", () => {
  const [, , heap] = cellsOf("HTTP, idle session", "halyard", "halyard");
  expect(/idle session keeps about (\d+) KB of heap/.exec(readme)?.[1]).toBe(Number(heap).toFixed(0));
});

test("README.md says how many packages npm installs", () => {
  const { dependencies } = JSON.parse(readDocument("package.json")) as { dependencies: object };
  const count = ["One package", "Two packages", "Three packages", "Four packages"][
    Object.keys(dependencies).length
  ];
  expect(readme).toContain(`**Small.** ${count},`);
});
