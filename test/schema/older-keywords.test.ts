// Keywords of older drafts and of OpenAPI in schemas without `$schema`: clients read those as 2020-12, and fail every call
// of a tool whose schema is not valid there.
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
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
    [["a", 1], ["a"]],
    [
      [1, "a"],
      ["a", 1, 2],
    ],
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

test("a schema that names draft-07 or draft-04 is published as it is", async () => {
  for (const [draft, value] of [
    ["http://json-schema.org/draft-07/schema#", { items: [{ type: "string" }] }],
    ["http://json-schema.org/draft-04/schema#", { minimum: 1, exclusiveMinimum: true }],
  ] as const) {
    const server = new McpServer({ name: "older", version: "1.0.0" });
    const input = { $schema: draft, type: "object", properties: { value } };
    server.tool("t", { input }, () => "ok");
    const client = await connect(server);
    expect((await client.listTools())[0]?.inputSchema).toEqual(input);
    await client.close();
  }
});
