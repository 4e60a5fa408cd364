// Every option of every entry point, given values of other kinds than its type says: each is refused at once, and the option is named.
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { entryPoints } from "./support/entry-points.ts";
import {
  checker,
  optionsOf,
  type OptionPath,
  partsOf,
  refusalOf,
  withOption,
} from "./support/option-paths.ts";

/** Values that no option takes, whatever its type. */
const neverRight: readonly unknown[] = [
  null,
  Promise.resolve(1),
  new Number(5),
  new String("boxed"),
  new Boolean(true),
  new Date(0),
  5n,
  Symbol("wrong"),
];

/** Numbers that may be without an end. */
const endless = /\b(?:perMinute|burst|concurrent)$/;
/** Numbers that need not be whole. */
const fractional =
  /\b(?:perMinute|burst|concurrent|clockToleranceSeconds|cacheSeconds|expiresInSeconds|priority|temperature)$/;
/** Times that may have passed. */
const mayBePast = /\bexpiresInSeconds$/;
/** Times for which no timer waits. */
const noTimer = /\bcache\b.*ttlMs$/;
/** Texts that may be empty, or whose emptiness is a matter of the value and not of its kind. */
const mayBeEmpty =
  /(?:^|\.)(?:title|description|instructions|websiteUrl|mimeType|audience|resourceName|logger|systemPrompt|caller|uri|content|cursor|search)$|^roots\.name$/;
/** What holds anything: the author's own values, ids that a test sends as they are, and schemas, which say themselves what is wrong with them. */
const isAnything = /^id$|(?:^|\.)(?:structured|input|output|arguments|params|result|principal|privateKey)$/;

const is = (type: ts.Type, flags: ts.TypeFlags): boolean => (type.flags & flags) !== 0;

/** The values of other kinds than `type`. */
function wrongFor({ path, type, steps }: OptionPath): unknown[] {
  const parts = partsOf(type).filter((part) => !is(part, ts.TypeFlags.Undefined));
  const some = (holds: (part: ts.Type) => boolean): boolean => parts.some(holds);
  const takesText = some((part) => is(part, ts.TypeFlags.String));
  const takesNumber = some((part) => is(part, ts.TypeFlags.Number));
  const takesList = some((part) => checker.isArrayType(part));
  const takesFunction = some((part) => part.getCallSignatures().length > 0);
  const objects = parts.filter(
    (part) =>
      is(part, ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive) &&
      !checker.isArrayType(part) &&
      part.getCallSignatures().length === 0,
  );
  const flags = parts
    .filter((part) => is(part, ts.TypeFlags.BooleanLike))
    .map((part) => checker.typeToString(part));
  const wrong = [...neverRight];
  if (!takesText) wrong.push("no such value", "5");
  if (takesText && !mayBeEmpty.test(path)) wrong.push("");
  if (!takesNumber) wrong.push(0, 5);
  else wrong.push(...wrongNumbers(path));
  for (const flag of [true, false])
    if (!flags.includes(String(flag)) && flags[0] !== "boolean") wrong.push(flag);
  if (!takesFunction) wrong.push(() => {});
  if (!takesList) wrong.push([], ["no such value"]);
  else wrong.push([null], [5], [[]], Array.from({ length: 2 }).fill("a", 1), Array(1));
  if (objects.length === 0) wrong.push({});
  else if (objects.every(hasRequired)) wrong.push({});
  if (objects.length > 0) wrong.push(new Map([["a", 1]]));
  // Dates are checked where the last name is one of the protocol's annotations.
  return steps.at(-1)?.name === "lastModified" ? [...wrong, "yesterday"] : wrong;
}

function wrongNumbers(path: string): number[] {
  return [
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    ...(mayBePast.test(path) ? [] : [-1]),
    ...(endless.test(path) ? [] : [Number.POSITIVE_INFINITY]),
    ...(fractional.test(path) ? [] : [1.5]),
    ...(path.endsWith("Ms") && !noTimer.test(path) ? [2 ** 31, 2 ** 40] : []),
  ];
}

function hasRequired(type: ts.Type): boolean {
  return checker.getPropertiesOfType(type).some(({ flags }) => (flags & ts.SymbolFlags.Optional) === 0);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" && value !== null
    ? `${value.constructor.name} ${JSON.stringify(value)}`
    : String(value);
}

describe.each(Object.entries(entryPoints))("%s", (entry, entryPoint) => {
  const options = optionsOf(entry).filter(({ path }) => !isAnything.test(path));

  test.each(options)("$path of another kind is refused", async (option) => {
    const taken: string[] = [];
    for (const value of wrongFor(option)) {
      const thrown = await refusalOf(entryPoint, withOption(option, value, entryPoint.needed));
      const { name, message } = Object(thrown) as Partial<Error>;
      const isNamed = name === "ConfigurationError" && message?.includes(option.path);
      if (!isNamed) taken.push(`${shown(value)}: ${message}`);
    }
    expect(taken).toEqual([]);
  });

  test.each(options.filter(({ steps }) => steps.length === 1))(
    "$path of the class of the options, where copies of them would lose it, is refused",
    async ({ path }) => {
      const names = optionsOf(entry).map(({ steps }) => steps[0]?.name ?? "");
      const given = names.map(
        (name) => [name, (Object(entryPoint.needed) as Record<string, unknown>)[name]] as const,
      );
      class Settings {
        [name: string]: unknown;
      }
      Object.defineProperty(Settings.prototype, path, { get: () => "5" });
      const settings = new Settings();
      for (const [name, value] of given) if (name !== path) settings[name] = value;
      const thrown = await refusalOf(entryPoint, settings);
      expect(thrown).toMatchObject({ name: "ConfigurationError" });
      const isAlone = new Set(names).size === 1;
      expect((thrown as Error).message).toContain(isAlone ? "must be an object" : path);
    },
  );

  if (entryPoint.waits) return;

  test("options that are undefined count as not given", async () => {
    const given = Object.fromEntries(optionsOf(entry).map(({ steps }) => [steps[0]?.name, undefined]));
    const alone = await refusalOf(entryPoint, { ...entryPoint.needed });
    expect(await refusalOf(entryPoint, { ...given, ...entryPoint.needed })).toEqual(alone);
  });
});

test("the values of other kinds are many", () => {
  const all = Object.keys(entryPoints).flatMap((entry) => optionsOf(entry).map(wrongFor));
  expect(all.length).toBeGreaterThan(500);
  expect(Math.min(...all.map((wrong) => wrong.length))).toBeGreaterThan(10);
});
