// What hostile peers do, row by row, on every mount where it can be done.
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { readDocument } from "../support/documents.ts";
import { limitsPage, limitsUnder } from "../support/limits-page.ts";
import { advisories, notDue } from "./advisories.ts";
import { type MountName, mountNames } from "./mounts.ts";
import type { Row } from "./row.ts";
import { table } from "./table.ts";

const limitTables: readonly string[] = [
  "Server",
  "Tool",
  "Tasks",
  "Request state",
  "Stdio",
  "HTTP",
  "Rate limits",
  "Authorization",
];

/** Other tables: of times, of a client, and those that `probeLimits` holds. */
const otherTables: readonly string[] = [
  "Times of HTTP",
  "Cluster",
  "Client",
  "Times of a client",
  "Dashboard",
  "What a dashboard samples",
  "Timelines of a dashboard",
];

const rows: readonly Row[] = Object.values(table).flat();

interface Cell {
  readonly title: string;
  readonly run: () => Promise<void>;
}

function cellsOf(row: Row): Cell[] {
  const ids = row.requirements === undefined ? "" : ` [${row.requirements.join(", ")}]`;
  const because = [row.limit, ...(row.advisories ?? [])].filter(Boolean).join(", ");
  return mountNames.flatMap((mount): Cell[] => {
    if (row.leftOut?.[mount] !== undefined) return [];
    const title = `${mount}: ${row.name}${because === "" ? "" : ` (${because})`}${ids}`;
    if (row.over === "messages") return [{ title, run: () => row.attack(mount) }];
    return mount === "stdio" ? [] : [{ title, run: () => row.attack(mount) }];
  });
}

let cells = 0;
for (const [subject, list] of Object.entries(table)) {
  describe(`hostile peers · ${subject}`, () => {
    for (const { title, run } of list.flatMap(cellsOf)) {
      // How long it may take is for the row to say: a busy machine is no reason to fail.
      test(title, { timeout: 60_000 }, async () => {
        cells++;
        await run();
      });
    }
  });
}

afterAll(() => console.log(`hostile peers: ${rows.length} rows, ${cells} cells of row and mount`));

describe("the table of hostile peers", () => {
  test("has a row for every advisory of each subject that is built", () => {
    const answered = new Set(rows.flatMap((row) => row.advisories ?? []));
    const due = Object.entries(advisories).filter(([, subject]) => table[subject] !== undefined);
    expect(due.map(([id]) => id).filter((id) => !answered.has(id))).toEqual([]);
    expect([...answered].filter((id) => advisories[id] === undefined)).toEqual([]);
    const without = Object.values(advisories).filter((subject) => table[subject] === undefined);
    expect([...new Set(without)].toSorted()).toEqual(Object.keys(notDue).toSorted());
  });

  test(`has a row for every limit of ${limitsPage}`, () => {
    const listed = limitTables.flatMap((heading) => limitsUnder(heading).map(({ name }) => name));
    const shown = rows.flatMap(({ limit }) => limit ?? []);
    expect(listed.filter((limit) => !shown.includes(limit))).toEqual([]);
    expect(shown.filter((limit) => !listed.includes(limit))).toEqual([]);
  });

  test(`knows every table of ${limitsPage}`, () => {
    const headings = [...readDocument(limitsPage).matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);
    expect(headings.toSorted()).toEqual([...limitTables, ...otherTables].toSorted());
  });

  test("cites requirements that exist", () => {
    const manifest = readFileSync(new URL("../../spec/requirements.yaml", import.meta.url), "utf8");
    const known = new Set([...manifest.matchAll(/\bid: ([A-Z0-9-]+)/g)].map(([, id]) => id));
    const cited = rows.flatMap((row) => row.requirements ?? []);
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });

  test("leaves out a mount for a reason, and runs each row on one at least", () => {
    for (const row of rows) {
      expect(cellsOf(row).length, row.name).toBeGreaterThan(0);
      for (const reason of Object.values(row.leftOut ?? {})) expect(reason).toMatch(/\w/);
    }
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test("runs on every mount", () => {
    const run = (mount: MountName): number =>
      rows.filter((row) => cellsOf(row).some(({ title }) => title.startsWith(`${mount}:`))).length;
    for (const mount of mountNames) expect(run(mount), mount).toBeGreaterThan(0);
  });
});
