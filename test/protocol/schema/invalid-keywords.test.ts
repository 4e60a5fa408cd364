// Keywords with values that 2020-12 does not allow: refused with their place, because other clients could not compile the schema.
import { Ajv2020 } from "ajv/dist/2020.js";
import { type } from "arktype";
import { McpServer } from "halyard";
import { expect, test } from "vitest";

const types =
  '"null", "boolean", "object", "array", "number", "string", "integer" or a list of them, each once';
const anchor = "must be a name of letters, digits, -, _ and . that does not begin with a digit";
const noExpression = "is not a regular expression: write one that RegExp takes with the flag u";
const noTarget = "has no target: put its target under $defs";

const rows: readonly (readonly [property: object, words: string])[] = [
  [{ anyOf: [] }, "has properties.a.anyOf, which must be a list of at least one schema"],
  [{ prefixItems: [] }, "has properties.a.prefixItems, which must be a list of at least one schema"],
  [{ enum: [] }, "has properties.a.enum, which must be a list of at least one value"],
  [{ type: [] }, `has properties.a.type, which must be ${types}`],
  [{ type: ["string", "string"] }, `has properties.a.type, which must be ${types}`],
  [{ required: ["b", "b"] }, "has properties.a.required, which must be a list of strings, each once"],
  [
    { dependentRequired: { b: ["c", "c"] } },
    "has properties.a.dependentRequired, which must be an object of lists of strings, each once",
  ],
  [{ title: 5 }, "has properties.a.title 5, which must be a string"],
  [{ description: null }, "has properties.a.description, which must be a string"],
  [{ $id: 5 }, "has properties.a.$id 5, which must be a string"],
  [{ $anchor: "#b" }, `has properties.a.$anchor "#b", which ${anchor}`],
  [{ $dynamicAnchor: "1" }, `has properties.a.$dynamicAnchor "1", which ${anchor}`],
  [{ uniqueItems: "yes" }, 'has properties.a.uniqueItems "yes", which must be true or false'],
  [{ deprecated: 1 }, "has properties.a.deprecated 1, which must be true or false"],
  [{ type: "string", nullable: "yes" }, 'has properties.a.nullable "yes", which must be true or false'],
  [{ examples: "b" }, 'has properties.a.examples "b", which must be a list'],
  [{ pattern: "[" }, `is not a valid JSON Schema: properties.a: the pattern [ ${noExpression}`],
  [
    { items: { anyOf: [{ type: "null" }, { patternProperties: { "(": {} } }] } },
    `is not a valid JSON Schema: properties.a.items.anyOf.1: the pattern ( ${noExpression}`,
  ],
  [{ $ref: "#/$defs/none" }, `is not a valid JSON Schema: properties.a: the $ref "#/$defs/none" ${noTarget}`],
];

test.each(rows)("%j is refused, and the message names the place", (property, words) => {
  const schema = { type: "object", properties: { a: property } };
  expect(() => new Ajv2020({ strict: false }).compile(schema)).toThrow();
  const server = new McpServer({ name: "test", version: "1.0.0" });
  expect(() => server.tool("t", { input: schema }, () => "")).toThrow(
    expect.objectContaining({ code: "INVALID_SCHEMA", message: `tool "t": input ${words}` }),
  );
});

test("a pattern of the whole schema needs no place, and a choice of a library that has none is refused too", () => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const root = { type: "object", patternProperties: { "[": {} } };
  expect(() => server.tool("t", { input: root }, () => "")).toThrow(
    `tool "t": input is not a valid JSON Schema: the pattern [ ${noExpression}`,
  );
  expect(() => server.tool("t", { input: type({ a: "never" }) }, () => "")).toThrow(
    'tool "t": input has properties.a.enum, which must be a list of at least one value',
  );
});
