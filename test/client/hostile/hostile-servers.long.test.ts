// What hostile servers do to a client, row by row: bounded memory and time, a clear error, and a client that still works.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { limitsPage, limitsUnder } from "../../support/limits-page.ts";
import type { Row } from "./row.ts";
import { table } from "./table.ts";

const rows: readonly Row[] = Object.values(table).flat();
const ownNames = Object.getOwnPropertyNames(Object.prototype).toSorted();

for (const [subject, list] of Object.entries(table)) {
  describe(`hostile servers · ${subject}`, () => {
    for (const { name, limit, requirements = [], attack } of list) {
      const because = [limit, ...requirements].filter(Boolean).join(", ");
      test(because === "" ? name : `${name} [${because}]`, { timeout: 60_000 }, async () => {
        await attack();
        expect(Object.getOwnPropertyNames(Object.prototype).toSorted()).toEqual(ownNames);
      });
    }
  });
}

describe("the table of hostile servers", () => {
  test(`names limits that ${limitsPage} lists`, () => {
    const listed = new Set(limitsUnder("Client").map(({ name }) => name));
    const shown = rows.flatMap(({ limit }) => limit ?? []);
    expect(shown.filter((limit) => !listed.has(limit))).toEqual([]);
  });

  test("cites requirements that exist", () => {
    const manifest = readFileSync(new URL("../../../spec/requirements.yaml", import.meta.url), "utf8");
    const known = new Set([...manifest.matchAll(/\bid: ([A-Z0-9-]+)/g)].map(([, id]) => id));
    expect(rows.flatMap((row) => row.requirements ?? []).filter((id) => !known.has(id))).toEqual([]);
  });

  test("has each name once", () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });
});
