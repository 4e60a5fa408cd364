// The limits in a table of docs/reference/limits.md are those of the code: each has a probe that tells whether the limit is
// exactly what the table says.
import { expect, test } from "vitest";
import { limitsUnder } from "./limits-page.ts";

export type Probes = Readonly<Record<string, (limit: number) => Promise<void> | void>>;

/** Tests each row under the heading with the probe of its name. */
export function probeLimits(heading: string, probes: Probes): void {
  const rows = limitsUnder(heading);

  test.each(rows.map(({ name, value }) => [name, value] as const))(
    "the limit of %s is %i",
    async (name, value) => {
      const probe = probes[name];
      if (probe === undefined) throw new Error(`No probe for ${name}`);
      await probe(value);
    },
  );

  test("every probe has a row, and every row says what happens past it", () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(probes).toSorted());
    expect(rows.filter(({ past }) => past === "")).toEqual([]);
  });
}
