// The limits in a table of SECURITY.md are those of the code: each has a probe that tells whether it is exactly what the table says.
import { expect, test } from "vitest";
import { readTable } from "./documents.ts";

export type Probes = Readonly<Record<string, (limit: number) => Promise<void> | void>>;

/** Tests each row under the heading with the probe of its name. */
export function probeLimits(heading: string, probes: Probes): void {
  const rows = readTable("SECURITY.md", heading);

  test.each(rows.map((row) => [row["limit"] ?? "", Number(row["value"])] as const))(
    "the limit of %s is %i",
    async (name, value) => {
      const probe = probes[name];
      if (probe === undefined) throw new Error(`No probe for ${name}`);
      await probe(value);
    },
  );

  test("every probe has a row", () => {
    expect(rows.map((row) => row["limit"]).toSorted()).toEqual(Object.keys(probes).toSorted());
  });
}
