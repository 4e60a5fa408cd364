// Random values match random schemas exactly if they match by ajv. It lacks the names of Object's own members and the keywords
// `unevaluated…`, for which ajv generates code that is wrong or throws; the official suite has both.
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonSchema } from "halyard";
import { expect, test } from "vitest";
import { Random } from "../../fuzz/random.ts";
import { judging } from "../../support/judging.ts";

const names = ["a", "b", "c", "ab", "d"];
const atoms = [null, true, false, 0, 1, 2, 3, -1, 0.5, 1.5, "", "a", "ab", "é", "😀b", "aaa"];
const types = ["object", "array", "string", "integer", "number", ["null", "array"], ["boolean", "object"]];

/** Makes schemas and values, each up to a depth. */
class Maker {
  readonly #random: Random;
  /** Only the root may refer: two targets could refer to each other without end. */
  canRefer = true;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  value(depth = 3): unknown {
    const random = this.#random;
    if (depth === 0 || random.chance(0.3)) return random.pick(atoms);
    if (random.chance(0.5)) return this.#list(() => this.value(depth - 1), 4);
    return this.#map(names, () => this.value(depth - 1), 4);
  }

  schema(depth = 3): JsonSchema | boolean {
    if (depth === 0 || this.#random.chance(0.1)) return this.#random.chance(0.7);
    const keywords = Object.entries(this.#keywords(depth - 1));
    const chosen = Array.from({ length: 1 + this.#random.below(4) }, () => this.#random.pick(keywords));
    // ajv takes an empty list for one that contains something.
    const made = Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
    return { ...made, ...("contains" in made && { minItems: 1 }) } as JsonSchema;
  }

  #keywords(depth: number): Record<string, () => unknown> {
    const random = this.#random;
    const count = (): number => random.below(4);
    const inner = (): unknown => this.schema(depth);
    const list = (): unknown[] => [inner(), ...this.#list(inner, 2)];
    const map = (): object => this.#map(names, inner, 3);
    const some = (): string[] => names.filter(() => random.chance(0.2));
    const make = <T>(keywords: string, setting: () => T): Record<string, () => T> =>
      Object.fromEntries(keywords.split(" ").map((name) => [name, setting]));
    return {
      ...make("type", () => random.pick(types)),
      ...make("const", () => this.value(2)),
      ...make("enum", () => [this.value(1), random.pick([7, "seven"])]),
      ...make("minimum exclusiveMaximum minLength maxLength minItems maxItems", count),
      ...make("minProperties maxProperties", count),
      ...make("multipleOf", () => random.pick([1, 2, 0.5])),
      ...make("pattern", () => random.pick(["^a", "b$", "^.$", "[^a]"])),
      ...make("uniqueItems", () => random.chance(0.8)),
      ...make("items contains additionalProperties propertyNames not if then else", inner),
      ...make("minContains maxContains", () => 1 + random.below(2)),
      ...make("prefixItems allOf anyOf oneOf", list),
      ...make("properties dependentSchemas", map),
      ...make("patternProperties", () => this.#map(["^a", "b", "^c$"], inner, 2)),
      ...make("required", some),
      ...make("dependentRequired", () => this.#map(names, some, 2)),
      ...(this.canRefer && make("$ref", () => random.pick(["#/$defs/one", "#two"]))),
    };
  }

  #list<T>(make: () => T, most: number): T[] {
    return Array.from({ length: this.#random.below(most + 1) }, make);
  }

  #map(keys: readonly string[], make: () => unknown, most: number): object {
    return Object.fromEntries(this.#list(() => [this.#random.pick(keys), make()], most));
  }
}

/** `HALYARD_FUZZ_SEED` tries others. */
const seed = Number(process.env["HALYARD_FUZZ_SEED"] ?? 1);
const documents = 250;

test("a value matches a schema exactly if it matches by ajv", { timeout: 60_000 }, async () => {
  const judged = { true: 0, false: 0 };
  for (let at = 0; at < documents; at++) {
    const maker = new Maker(seed * 1_000_000 + at);
    const allOf = [maker.schema()];
    maker.canRefer = false;
    const $defs = { one: maker.schema(2), two: { $anchor: "two", allOf: [maker.schema(2)] } };
    const document = { $defs, allOf } as JsonSchema;
    const check = compileByAjv(document);
    await judging(document, async (judge) => {
      for (let count = 0; count < 12; count++) {
        const value = maker.value();
        const fits = await judge(value);
        judged[`${fits}`]++;
        if (fits !== check(value)) expect({ document, value, fits }).toBe("the opposite");
      }
    });
  }
  // Both outcomes must be common, or the comparison says little.
  expect(Math.min(judged.true, judged.false)).toBeGreaterThan(documents);
});

function compileByAjv(document: object): (value: unknown) => unknown {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, ownProperties: true });
  ajv.opts.unevaluated = false;
  return ajv.compile(document);
}
