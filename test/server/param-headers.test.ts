// x-mcp-header annotations of an input schema, as far as they are checked when a tool is registered.
import { ConfigurationError, type JsonSchema } from "halyard";
import { expect, test } from "vitest";
import * as z from "zod";
import { makeServer } from "../support/catalogue.ts";

const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });

function register(input: JsonSchema): void {
  makeServer().server.tool("t", { input }, () => "");
}

function property(schema: object): void {
  register({ type: "object", properties: { a: schema } });
}

const mistake = expect.objectContaining({
  name: ConfigurationError.name,
  code: "INVALID_SCHEMA",
  subject: 'tool "t"',
  field: "input",
  message: expect.stringContaining("x-mcp-header"),
});

test("properties of type string, integer and boolean may be annotated, nested ones too [XMH-SERVER-MAY, XMH-STATIC-PATH, XMH-PRIMITIVE]", () => {
  const { server } = makeServer();
  const input = {
    type: "object",
    properties: {
      region: header("Region"),
      count: header("count", "integer"),
      dry: header("Dry-Run", "boolean"),
      deep: { type: "object", properties: { er: { type: "object", properties: { id: header("Id") } } } },
    },
  };
  server.tool("t", { input }, () => "");
  expect(server.toolInputSchema("t")).toEqual(input);
});

test("a Zod schema may carry the annotation [XMH-SERVER-MAY]", () => {
  const { server } = makeServer();
  server.tool("t", { input: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }) }, () => "");
  expect(server.toolInputSchema("t")).toMatchObject({ properties: { region: { "x-mcp-header": "Region" } } });
  expect(() =>
    server.tool("bad", { input: z.object({ n: z.number().meta({ "x-mcp-header": "N" }) }) }, () => ""),
  ).toThrow(ConfigurationError);
});

test("an empty value is refused [XMH-NOT-EMPTY]", () => {
  expect(() => property(header(""))).toThrow(mistake);
});

test.each(["my header", "a:b", "a/b", "(a)", "a,b", "ä", '"a"', "a@b", "[a]", "{a}", "a=b", "a?b"])(
  "%s is refused, being no HTTP token [XMH-TOKEN]",
  (name) => {
    expect(() => property(header(name))).toThrow(mistake);
  },
);

test.each(["A", "!#$%&'*+-.^_`|~09azAZ"])("%s is a token [XMH-TOKEN]", (name) => {
  expect(() => property(header(name))).not.toThrow();
});

test.each(["a\rb", "a\nb", "a\r\nInjected: 1", "a\u0000", "a\u0007b", "a\tb", "a\u007f", "a\n"])(
  "%j is refused for its control character [XMH-NO-CONTROL]",
  (name) => {
    expect(() => property(header(name))).toThrow(mistake);
  },
);

test.each([5, null, true, ["A"], {}])("%j is refused, being no string [XMH-TOKEN]", (name) => {
  expect(() => property(header(name))).toThrow(mistake);
});

test("a value that is used twice is refused, whatever its case [XMH-UNIQUE-CI]", () => {
  const twice = (one: string, two: string) => (): void =>
    register({
      type: "object",
      properties: { a: header(one), deep: { type: "object", properties: { b: header(two) } } },
    });
  expect(twice("Region", "Region")).toThrow(mistake);
  expect(twice("Region", "rEGION")).toThrow(mistake);
  expect(twice("Region", "Regions")).not.toThrow();
});

test.each(["number", "object", "array", "null", undefined, ["string", "null"]])(
  "a property of type %j cannot be annotated [XMH-PRIMITIVE]",
  (type) => {
    expect(() => property({ type, "x-mcp-header": "A" })).toThrow(mistake);
  },
);

const annotated = { type: "object", properties: { b: header("B") } };

test.each<[string, object]>([
  ["items", { items: annotated }],
  ["prefixItems", { prefixItems: [annotated] }],
  ["contains", { contains: annotated }],
  ["additionalItems", { additionalItems: annotated }],
  ["oneOf", { oneOf: [annotated] }],
  ["anyOf", { anyOf: [annotated] }],
  ["allOf", { allOf: [annotated] }],
  ["not", { not: annotated }],
  ["if", { if: annotated }],
  // A schema keyword, not a promise.
  // oxlint-disable-next-line unicorn/no-thenable
  ["then", { then: annotated }],
  ["else", { else: annotated }],
  ["$defs", { $defs: { x: annotated } }],
  ["additionalProperties", { additionalProperties: annotated }],
  ["patternProperties", { patternProperties: { "^x": annotated } }],
  ["dependentSchemas", { dependentSchemas: { x: annotated } }],
])(
  "an annotation below %s makes the tool invalid [XMH-STATIC-PATH-FORBIDDEN, XMH-STATIC-PATH]",
  (_, keywords) => {
    expect(() => register({ type: "object", ...keywords })).toThrow(mistake);
    expect(() => property({ type: "object", ...keywords })).toThrow(mistake);
  },
);

test("an annotation that is reached through a $ref makes the tool invalid [XMH-STATIC-PATH-FORBIDDEN]", () => {
  expect(() =>
    register({ type: "object", $defs: { r: header("R") }, properties: { a: { $ref: "#/$defs/r" } } }),
  ).toThrow(mistake);
});

test("the root cannot be annotated [XMH-STATIC-PATH]", () => {
  expect(() => register({ type: "object", "x-mcp-header": "Root" })).toThrow(mistake);
});

test("a property may be named x-mcp-header, and data that looks like an annotation is none", () => {
  expect(() =>
    register({ type: "object", properties: { "x-mcp-header": { type: "string" } } }),
  ).not.toThrow();
  expect(() => property({ type: "object", default: { "x-mcp-header": "not a schema" } })).not.toThrow();
  expect(() => property({ enum: [{ "x-mcp-header": "not a schema" }] })).not.toThrow();
  expect(() =>
    register({ type: "object", $defs: { x: { properties: { "x-mcp-header": { type: "string" } } } } }),
  ).not.toThrow();
});

test("one bad tool does not take the others with it [XMH-STATIC-PATH-FORBIDDEN]", () => {
  const { server } = makeServer();
  server.tool("good", {}, () => "");
  expect(() => server.tool("bad", { input: { type: "object", "x-mcp-header": "R" } }, () => "")).toThrow();
  expect(server.tools.keys()).toEqual(["good"]);
});
