// Rules of JSON Schema that the official suite leaves out, or has only for one draft.
import { describe, expect, test } from "vitest";
import { type JsonSchema } from "halyard";
import { judging } from "../../support/judging.ts";

/** Which of the values match. */
function judgeAll(schema: JsonSchema, values: readonly unknown[]): Promise<boolean[]> {
  return judging(schema, async (judge) => {
    const outcomes: boolean[] = [];
    for (const value of values) outcomes.push(await judge(value));
    return outcomes;
  });
}

describe("multipleOf", () => {
  const cases: [divisor: number, multiples: number[], others: number[]][] = [
    [1, [2 ** 51, 2 ** 60, 1e300, -3, 0], [2 ** 51 + 0.5, 2 ** 50 + 0.25, 0.1, 1e-300, -0.5]],
    [0.01, [0.07, 1.13, 4.35, 123456789.01, 1e20], [0.075, 123456789.012, 0.0099999999999]],
    [0.1, [0.3, 1e15, 2 ** 49 + 0.5], [0.35, 2 ** 48 + 0.25]],
    [1e-300, [1e300, 1, 3e-300], [1.5e-300]],
    [3, [3 * 2 ** 60, 9], [2 ** 53, 1e16]],
    [1e300, [0, 2e300], [1, 1.5e300]],
  ];

  test.each(cases)("of %d decides by the decimals that JSON has", async (multipleOf, multiples, others) => {
    const outcomes = await judgeAll({ multipleOf }, [...multiples, ...others]);
    expect(outcomes).toEqual([...multiples.map(() => true), ...others.map(() => false)]);
  });
});

test("a number that JSON cannot write is judged as what JSON writes for it: null", async () => {
  expect(await judgeAll({ type: ["number", "string"] }, [1, "a", Number.NaN, Infinity])).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(await judgeAll({ items: { multipleOf: 2 } }, [[2], [Number.NaN]])).toEqual([true, true]);
});

test("the escapes ~0 and ~1 of a pointer are read once, so that ~01 is ~1", async () => {
  const $defs = { "~1": { type: "string" }, "/": { type: "number" }, "a/b~c": { type: "boolean" } };
  const properties = {
    tilde: { $ref: "#/$defs/~01" },
    slash: { $ref: "#/$defs/~1" },
    both: { $ref: "#/$defs/a~1b~0c" },
  };
  const values = [{ tilde: "a", slash: 1, both: true }, { tilde: 1 }, { slash: "a" }, { both: 1 }];
  expect(await judgeAll({ $defs, properties }, values)).toEqual([true, false, false, false]);
});

test("schemas that nest too deeply in a value are refused in words that say so", async () => {
  const schema = { $defs: { n: { properties: { n: { $ref: "#/$defs/n" } } } }, $ref: "#/$defs/n" };
  const nested = (levels: number): object => (levels === 0 ? {} : { n: nested(levels - 1) });
  expect(await judgeAll(schema, [nested(450), nested(600)])).toEqual([true, false]);
  const endless = {
    $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { anyOf: [{ $ref: "#/$defs/a" }] } },
    $ref: "#/$defs/a",
  };
  await expect(judging(endless, async () => {})).rejects.toThrow(/nests more than 1000 schemas deep/);
});

test("an alternative that fails evaluates nothing, whatever it has seen before", async () => {
  const failing = { properties: { a: true }, prefixItems: [true], not: {} };
  const rest = { unevaluatedProperties: false, unevaluatedItems: false };
  for (const alternatives of [
    { anyOf: [failing, true] },
    { oneOf: [failing, true] },
    { if: failing },
    { not: { not: { properties: { a: true }, prefixItems: [true] } } },
  ])
    expect(await judgeAll({ ...alternatives, ...rest }, [{ a: 1 }, [1], {}, []])).toEqual([
      false,
      false,
      true,
      true,
    ]);
});

test("items that match contains count as evaluated in 2020-12, not in 2019-09", async () => {
  const schema = { contains: { type: "string" }, unevaluatedItems: { type: "number" } };
  const dialect = "https://json-schema.org/draft/2019-09/schema";
  expect(
    await judgeAll(schema, [
      ["a", 1],
      ["a", true],
    ]),
  ).toEqual([true, false]);
  expect(await judgeAll({ $schema: dialect, ...schema }, [["a", 1], [1]])).toEqual([false, false]);
  expect(
    await judgeAll({ $schema: dialect, contains: { type: "number" }, unevaluatedItems: { minimum: 5 } }, [
      [1],
      [5],
    ]),
  ).toEqual([false, true]);
});

test("a leap second is the last one of a day in UTC, wherever the clock is", async () => {
  const values = [
    "23:59:60Z",
    "01:29:60+01:30",
    "18:59:60-05:00",
    "23:59:60+01:00",
    "22:59:60Z",
    "23:59:61Z",
  ];
  expect(await judgeAll({ format: "time" }, values)).toEqual([true, true, true, false, false, false]);
});
