// Schemas that cannot work, of each library: the error names the property, and the remedy is one of the library that was used.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import * as TypeBox from "typebox";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";

const { effectSchemas } = (await import(new URL("fixtures/effect.mjs", import.meta.url).href)) as {
  readonly effectSchemas: Readonly<Record<string, unknown>>;
};

function register(input: unknown): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("t", { input: input as never }, () => "ok");
  return server;
}

const types =
  '"null", "boolean", "object", "array", "number", "string", "integer" or a list of them, each once';
const arktype = "(arktype) cannot be published as JSON Schema:";
const effect = "(effect) cannot be published as JSON Schema:";
const { major, minor, patch } = z.core.version;
const zod = `(zod ${major}.${minor}.${patch}) cannot be published as JSON Schema:`;
const arkRemedy = 'which JSON does not have: use a type that JSON has; for a date, "string.date.iso"';
const codec = "which JSON does not have: wrap the schema in Schema.toCodecJson(…) first";
const zodRemedy = "use a type that JSON has; for a date, z.iso.datetime()";

const recursive: z.ZodType = z.object({
  get inner() {
    return recursive.optional();
  },
  d: z.date(),
});

const mistakes: [string, make: () => unknown, words: string][] = [
  ["ArkType's Date", () => type({ when: "Date" }), `${arktype} when takes only a Date, ${arkRemedy}`],
  ["ArkType's bigint", () => type({ n: "bigint" }), `${arktype} n takes only a bigint, ${arkRemedy}`],
  ["ArkType's Set", () => type({ s: "Set" }), `${arktype} s takes only a Set, ${arkRemedy}`],
  [
    "ArkType's Date[]",
    () => type({ a: { b: "Date[]" } }),
    `${arktype} a.b.0 takes only a Date, ${arkRemedy}`,
  ],
  [
    "ArkType's limited Date",
    () => type({ when: "Date > d'2020-01-01'" }),
    `${arktype} when takes only a Date, ${arkRemedy}`,
  ],
  [
    "ArkType's Date or null",
    () => type({ when: "Date | null" }),
    `${arktype} when takes only a Date, ${arkRemedy}`,
  ],
  [
    "ArkType's Date in a tuple",
    () => type({ pair: ["string", "Date"] }),
    `${arktype} pair.1 takes only a Date, ${arkRemedy}`,
  ],
  [
    "ArkType's bigint under any name",
    () => type({ by: { "[string]": "bigint" } }),
    `${arktype} by.* takes only a bigint, ${arkRemedy}`,
  ],
  [
    "ArkType's Date in an alternative",
    () => type({ k: "'a'", v: "Date" }).or({ k: "'b'", v: "string" }),
    `${arktype} v takes only a Date, ${arkRemedy}`,
  ],
  [
    "ArkType's Date in a type that contains itself",
    () => scope({ node: { d: "Date", "next?": "node" } }).export().node,
    `${arktype} d takes only a Date, ${arkRemedy}`,
  ],
  ["Effect's Date or null", () => effectSchemas["dateOrNull"], `${effect} when takes only a Date, ${codec}`],
  ["Effect's record of Dates", () => effectSchemas["dates"], `${effect} by.* takes only a Date, ${codec}`],
  ["Effect's Date", () => effectSchemas["date"], `${effect} when takes only a Date, ${codec}`],
  ["Effect's BigInt", () => effectSchemas["bigint"], `${effect} n takes only a bigint, ${codec}`],
  ["Effect's ReadonlySet", () => effectSchemas["set"], `${effect} s takes only a Set, ${codec}`],
  [
    "an Effect Schema as it is",
    () => effectSchemas["plain"],
    "is an Effect Schema: wrap it in Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(…))",
  ],
  [
    "an Effect Schema that cannot validate",
    () => effectSchemas["withoutValidate"],
    "(effect) cannot validate: pass a Standard Schema, which has validate",
  ],
  [
    "Zod's date",
    () => z.object({ a: z.object({ d: z.array(z.date()) }) }),
    `${zod} a.d.0: Date cannot be represented in JSON Schema: ${zodRemedy}`,
  ],
  [
    "Zod's date in a schema that contains itself",
    () => recursive,
    `${zod} inner: Date cannot be represented in JSON Schema: ${zodRemedy}`,
  ],
  [
    "Valibot's date",
    () => toStandardJsonSchema(v.object({ a: v.date() })),
    '(valibot) cannot be published as JSON Schema: The "date" schema cannot be converted to JSON Schema: ' +
      "use a type that JSON has; for a date, v.pipe(v.string(), v.isoTimestamp())",
  ],
  [
    "Valibot without its converter",
    () => v.object({ a: v.string() }),
    "(valibot) cannot be published as JSON Schema: wrap it in toStandardJsonSchema(…) of @valibot/to-json-schema",
  ],
  [
    "a JSON Schema inside an object of Zod",
    () => z.object({ a: z.object({ b: { type: "string" } as never }) }),
    `${zod} a.b: it is not a schema: write one, such as z.string()`,
  ],
  ["a raw shape of Zod", () => ({ a: z.string() }), "is a raw shape: wrap it in z.object({ … })"],
  ["a raw shape of Valibot", () => ({ a: v.string() }), "is a raw shape: wrap it in v.object({ … })"],
  ["a raw shape of ArkType", () => ({ a: type("string") }), "is a raw shape: wrap it in type({ … })"],
  ["a string of Zod", () => z.string(), "must be the schema of an object: z.object({ … })"],
  ["a string of ArkType", () => type("string"), "must be the schema of an object: type({ … })"],
  [
    "a string",
    () => ({ type: "string" }),
    'must be the schema of an object: { type: "object", properties: { … } }',
  ],
  ["a function", () => z.object, "is a function: pass what it returns, as in z.object({ … })"],
  [
    "TypeBox's bigint",
    () => TypeBox.Type.Object({ n: TypeBox.Type.BigInt() }),
    `has properties.n.type "bigint", which must be ${types}`,
  ],
  [
    "a type that does not exist",
    () => ({ type: "object", properties: { n: { items: { type: "strng" } } } }),
    `has properties.n.items.type "strng", which must be ${types}`,
  ],
  [
    "a name of a type instead of a schema",
    () => ({ type: "object", properties: { n: "string" } }),
    'has properties.n "string", which must be a schema, such as { "type": "string" }',
  ],
  [
    "required at the property",
    () => ({ type: "object", properties: { n: { type: "string", required: true } } }),
    "has properties.n.required true, which must be a list of strings, each once",
  ],
  [
    "properties without their object",
    () => ({ n: { type: "string" }, m: { type: "number" } }),
    'is an object of properties: write { type: "object", properties: { … } }',
  ],
];

test.each(mistakes)("%s is refused with its remedy", (_, make, words) => {
  expect(() => register(make())).toThrow(
    expect.objectContaining({ code: "INVALID_SCHEMA", message: `tool "t": input ${words}` }),
  );
});

const fitting: [string, make: () => unknown, args: Record<string, unknown>][] = [
  ["ArkType's parsed date", () => type({ when: "string.date.parse" }), { when: "2026-01-01" }],
  ["ArkType's date or string", () => type({ when: "string.date | Date" }), { when: "2026-01-01" }],
  ["ArkType's narrowed string", () => type({ a: type("string").narrow((s) => s === "so") }), { a: "so" }],
  [
    "ArkType's formats",
    () => type({ a: "string.uuid", "b?": "unknown", c: "'x' | 'y'" }),
    { a: crypto.randomUUID(), c: "x" },
  ],
  [
    "ArkType's alternatives, records and tuples",
    () =>
      type({ pair: ["string", "string | Date"], by: { "[string]": "number | null" } }).and(
        type({ k: "'a'", v: "null" }).or({ k: "'b'", v: "string > 20" }),
      ),
    { pair: ["a", "b"], by: { x: 1 }, k: "a", v: null },
  ],
  ["Effect's codec", () => effectSchemas["codec"], { when: "2026-01-01T00:00:00.000Z", s: ["1"] }],
  ["TypeBox's empty tuple", () => TypeBox.Type.Object({ none: TypeBox.Type.Tuple([]) }), { none: [] }],
  [
    "TypeBox's tuple",
    () => TypeBox.Type.Object({ pair: TypeBox.Type.Tuple([TypeBox.Type.String(), TypeBox.Type.Number()]) }),
    { pair: ["a", 1] },
  ],
];

describe("what works", () => {
  test.each(fitting)("%s is accepted, and can be called", async (_, make, args) => {
    const client = await connect(register(make()));
    expect((await client.callTool("t", args)).content).toEqual([{ type: "text", text: "ok" }]);
    await client.close();
  });
});
