// Keywords of older drafts and of OpenAPI, and tuples: official clients fail every call of a tool whose schema they misread.
import { Ajv2020 } from "ajv/dist/2020.js";
import { type JsonSchema, McpServer } from "halyard";
import { connect } from "halyard/client";
import { describe, expect, test } from "vitest";

function serverWith(value: JsonSchema): McpServer {
  const server = new McpServer({ name: "older", version: "1.0.0" });
  server.tool("t", { input: { type: "object", properties: { value } } }, () => "ok");
  return server;
}

/** What the tool publishes for its argument, and which of the values a call may have. */
async function use(value: JsonSchema, values: readonly unknown[]): Promise<[unknown, boolean[]]> {
  const client = await connect(serverWith(value));
  const [tool] = await client.listTools();
  const schema = tool!.inputSchema;
  const outcomes: boolean[] = [];
  for (const each of values) {
    outcomes.push((await client.callTool("t", { value: each })).isError !== true);
  }
  await client.close();
  const byAjv = new Ajv2020({ strict: false }).compile(schema);
  expect(values.map((each) => byAjv({ value: each }))).toEqual(outcomes);
  return [schema.properties?.["value"], outcomes];
}

const rewritten: [string, JsonSchema, JsonSchema, fitting: unknown[], others: unknown[]][] = [
  [
    "a list of items",
    { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], maxItems: 2 },
    [["a", 1], ["a"]],
    [
      [1, "a"],
      ["a", 1, 2],
    ],
  ],
  [
    "prefixItems beside items: false",
    { prefixItems: [{ type: "string" }, true], items: false, maxItems: 1, contains: { type: "string" } },
    { prefixItems: [{ type: "string" }, true], maxItems: 1, contains: { type: "string" } },
    [["a"]],
    [["a", 1], [1]],
  ],
  [
    "prefixItems beside items",
    { prefixItems: [{ type: "string" }], items: { type: "number" }, unevaluatedItems: false },
    { prefixItems: [{ type: "string" }], unevaluatedItems: { type: "number" } },
    [["a"], ["a", 1, 2]],
    [["a", "b"], [1]],
  ],
  [
    "prefixItems and items that are themselves rewritten",
    { items: [{ type: "string" }], additionalItems: { items: [true], additionalItems: false } },
    { prefixItems: [{ type: "string" }], unevaluatedItems: { prefixItems: [true], maxItems: 1 } },
    [["a", [1]]],
    [["a", [1, 2]]],
  ],
  [
    "a tuple inside one whose unevaluated items are refused",
    { allOf: [{ prefixItems: [true], items: { type: "number" } }], unevaluatedItems: false },
    { allOf: [{ prefixItems: [true], unevaluatedItems: { type: "number" } }], unevaluatedItems: false },
    [["a", 1]],
    [["a", "b"]],
  ],
  [
    "an empty list of items, as TypeBox writes an empty tuple",
    { type: "array", items: [], additionalItems: false, minItems: 0 },
    { type: "array", items: false, minItems: 0 },
    [[]],
    [[1]],
  ],
  [
    "a boolean exclusiveMinimum",
    { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
    { exclusiveMinimum: 1, maximum: 3 },
    [2, 3],
    [1, 4],
  ],
  ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }, ["a", null], [1]],
  [
    "nullable with an enum",
    { type: "string", enum: ["a"], nullable: true },
    { type: ["string", "null"], enum: ["a", null] },
    ["a", null],
    ["b"],
  ],
  ["nullable: false", { type: "string", nullable: false }, { type: "string" }, ["a"], [null]],
  [
    "one deep inside",
    { anyOf: [{ properties: { a: { items: [{ nullable: true, type: "integer" }] } } }] },
    { anyOf: [{ properties: { a: { prefixItems: [{ type: ["integer", "null"] }] } } }] },
    [{ a: [null] }],
    [{ a: ["x"] }],
  ],
];

/** Keywords that evaluate items of their own, which `unevaluatedItems` would pass over. */
const evaluating: readonly object[] = [
  { contains: { const: "b" } },
  { allOf: [{ prefixItems: [true, { const: "b" }] }] },
  { anyOf: [{ items: true }] },
  { if: { prefixItems: [true, true] } },
];

test.each(evaluating)("prefixItems and items beside %j are left alone", async (beside) => {
  const given = { prefixItems: [{ const: "a" }], items: { type: "number" }, ...beside };
  expect(await use(given as JsonSchema, [["a", "b"]])).toEqual([given, [false]]);
});

test("prefixItems and items are left alone in a schema that refers to items", async () => {
  const given = {
    properties: {
      row: { prefixItems: [{ const: "a" }], items: { type: "number" } },
      cell: { $ref: "#/properties/value/properties/row/items" },
    },
  };
  const values = [{ row: ["a", 1], cell: 1 }, { row: ["a", 1], cell: "a" }, { row: ["a", "b"] }];
  expect(await use(given, values)).toEqual([given, [true, false, false]]);
});

describe("a schema without $schema", () => {
  test.each(rewritten)("with %s is published as 2020-12", async (_, given, published, fitting, others) => {
    const [schema, outcomes] = await use(given, [...fitting, ...others]);
    expect(schema).toEqual(published);
    expect(outcomes).toEqual([...fitting.map(() => true), ...others.map(() => false)]);
  });

  test("that has a property called nullable or items is left alone", async () => {
    const given = { type: "object", properties: { nullable: { const: true }, items: { type: "array" } } };
    expect((await use(given, []))[0]).toEqual(given);
  });

  test("keeps one object that stands in many places one object, so that it costs once", () => {
    let shared: JsonSchema = { type: "string", nullable: true };
    for (let level = 0; level < 12; level++) shared = { anyOf: [shared, shared] };
    expect(() => serverWith(shared)).not.toThrow();
  });

  test.each<[JsonSchema, string]>([
    [
      { dependencies: { a: ["b"] } },
      "dependencies, which is of draft-07: write dependentRequired or dependentSchemas, or name the draft in $schema",
    ],
    [{ id: "#a" }, "id, which is of draft-04: write $id, or name the draft in $schema"],
    [{ $id: "#a" }, "$id, which is of draft-07: write $anchor, or name the draft in $schema"],
    [
      { $recursiveRef: "#" },
      "$recursiveRef, which is of 2019-09: write $dynamicRef, or name the draft in $schema",
    ],
    [{ exclusiveMinimum: true }, "exclusiveMinimum, which must be a number, or stand beside minimum"],
    [
      { $ref: "#", nullable: true },
      'nullable, which means nothing without a type: write anyOf: [{ … }, { type: "null" }]',
    ],
  ])("with %j is refused, and the message names the place", (given, words) => {
    expect(() => serverWith({ items: given })).toThrow(`tool "t": input has properties.value.items.${words}`);
  });
});

/** What a tool publishes for its whole input. */
async function publishedInput(input: JsonSchema): Promise<unknown> {
  const server = new McpServer({ name: "older", version: "1.0.0" });
  server.tool("t", { input }, () => "ok");
  const client = await connect(server);
  const [tool] = await client.listTools();
  await client.close();
  return tool?.inputSchema;
}

describe("a schema that names", () => {
  const draft04 = "http://json-schema.org/draft-04/schema#";
  const draft07 = "http://json-schema.org/draft-07/schema#";
  const newest = "https://json-schema.org/draft/2020-12/schema";

  test("draft-07 or 2019-09 is published as it is, because official clients know them", async () => {
    for (const $schema of [draft07, "https://json-schema.org/draft/2019-09/schema"]) {
      const value = { items: [{ type: "string" }], additionalItems: false, dependencies: { a: ["b"] } };
      const input = { $schema, type: "object", properties: { value } };
      expect(await publishedInput(input)).toEqual(input);
    }
  });

  test("draft-07 has a boolean exclusiveMinimum rewritten, which no client takes there", async () => {
    const input = {
      $schema: draft07,
      type: "object",
      properties: { n: { minimum: 1, exclusiveMinimum: true } },
    };
    expect(await publishedInput(input)).toEqual({ ...input, properties: { n: { exclusiveMinimum: 1 } } });
  });

  test("2020-12 has its tuples rewritten, and what only other dialects know left alone", async () => {
    const value = { prefixItems: [true], items: false, nullable: true, dependencies: { a: ["b"] } };
    const input = { $schema: newest, type: "object", properties: { value } };
    const { items: _, ...rest } = value;
    expect(await publishedInput(input)).toEqual({
      ...input,
      properties: { value: { ...rest, maxItems: 1 } },
    });
  });

  test("draft-04 is published as 2020-12", async () => {
    const input = {
      $schema: draft04,
      id: "http://example.com/order",
      type: "object",
      definitions: { word: { id: "#word", type: "string" } },
      properties: {
        id: { type: "string" },
        n: { minimum: 1, exclusiveMinimum: true },
        word: { $ref: "#word", description: "One word", maxLength: 1 },
        pair: { items: [true, true], additionalItems: false },
      },
      dependencies: { n: ["pair"], pair: { required: ["n"] } },
    };
    expect(await publishedInput(input)).toEqual({
      $id: "http://example.com/order",
      type: "object",
      definitions: { word: { $anchor: "word", type: "string" } },
      properties: {
        id: { type: "string" },
        n: { exclusiveMinimum: 1 },
        word: { $ref: "#word", description: "One word" },
        pair: { prefixItems: [true, true], maxItems: 2 },
      },
      dependentRequired: { n: ["pair"] },
      dependentSchemas: { pair: { required: ["n"] } },
    });
  });

  test("draft-04 and has what 2020-12 cannot say is refused, and the message names the place", async () => {
    const input = { $schema: draft04, properties: { n: { exclusiveMinimum: true } } };
    await expect(publishedInput(input)).rejects.toThrow(
      'tool "t": input has properties.n.exclusiveMinimum, which must be a number, or stand beside minimum',
    );
  });
});
