// Forms: what a schema becomes on each revision, and what is no form.
import { type } from "arktype";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type AnySchema, ConfigurationError, type JsonObject } from "halyard";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { askingTool, said } from "../../support/asking-tool.ts";
import { newestLegacy, newestModern } from "../../support/raw.ts";

interface Filled {
  /** The form as the client got it. */
  readonly form: JsonObject;
  readonly properties: Record<string, JsonObject>;
  readonly text: unknown;
}

/** Has a client of that revision fill in a form, and returns the form and what the handler got. */
async function fill(schema: AnySchema, content: JsonObject, revision = newestModern): Promise<Filled> {
  const { converse } = await askingTool(
    async (_, ctx) => JSON.stringify(await ctx.elicit("Fill in", schema)),
    { revision },
  );
  const { result, asked } = await converse(() => ({ action: "accept", content }));
  const form = asked[0]?.params["requestedSchema"] as JsonObject;
  return { form, properties: form["properties"] as Record<string, JsonObject>, text: said(result) };
}

const everyKind: Record<string, JsonObject> = {
  text: { type: "string", title: "Text", description: "Any", minLength: 1, maxLength: 9, default: "x" },
  email: { type: "string", format: "email" },
  uri: { type: "string", format: "uri" },
  date: { type: "string", format: "date" },
  time: { type: "string", format: "date-time" },
  number: { type: "number", minimum: 0.5, maximum: 2.5, default: 1.5 },
  integer: { type: "integer", minimum: 1, maximum: 3, default: 2 },
  boolean: { type: "boolean", title: "Sure?", default: true },
  choice: { type: "string", enum: ["a", "b"], default: "a" },
  named: { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
  titled: {
    type: "string",
    oneOf: [
      { const: "a", title: "A" },
      { const: "b", title: "B" },
    ],
    default: "b",
  },
};
const lists: Record<string, JsonObject> = {
  several: {
    type: "array",
    minItems: 1,
    maxItems: 2,
    items: { type: "string", enum: ["a", "b"] },
    default: ["a"],
  },
  severalTitled: {
    type: "array",
    items: {
      anyOf: [
        { const: "a", title: "A" },
        { const: "b", title: "B" },
      ],
    },
  },
};

describe.each([newestModern, newestLegacy])("a form · %s", (revision) => {
  test("has every kind of field, with all forms of choices and defaults [ELIC-FORM-SCHEMA, ELIC-FORM-STRING-FORMATS]", async () => {
    const properties = { ...everyKind, ...lists };
    const { form } = await fill({ type: "object", properties, required: ["text"] }, { text: "t" }, revision);
    expect(form).toEqual({ type: "object", properties, required: ["text"] });
  });
});

test("a form for a revision with plainer ones has names beside the choices, and a default only for yes or no", async () => {
  const { properties } = await fill({ type: "object", properties: everyKind }, {}, "2025-06-18");
  const { default: _, ...text } = everyKind["text"] ?? {};
  expect(properties).toMatchObject({
    text,
    number: { type: "number", minimum: 0.5, maximum: 2.5 },
    boolean: { type: "boolean", default: true },
    choice: { type: "string", enum: ["a", "b"] },
    titled: { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
  });
  const defaults = Object.entries(properties).filter(([, field]) => field["default"] !== undefined);
  expect(defaults.map(([name]) => name)).toEqual(["boolean"]);
  expect(properties["titled"]).not.toHaveProperty("oneOf");
});

test("a list of choices is an error for a revision that cannot show it", async () => {
  const { ask } = await askingTool(
    async (_, ctx) => JSON.stringify(await ctx.elicit("Fill in", { type: "object", properties: lists })),
    { revision: "2025-06-18" },
  );
  const problem = "protocol revision 2025-06-18 has no lists of choices (field several)";
  expect(await ask()).toMatchObject({ isError: true, content: [{ text: `elicitation/create: ${problem}` }] });
});

const zod = z.object({
  text: z.string().min(2).max(9).describe("Any"),
  email: z.email(),
  count: z.int().min(1).max(9),
  sure: z.boolean().default(true),
  choice: z.enum(["a", "b"]),
  only: z.literal("x"),
  either: z.union([z.literal("p"), z.literal("q")]),
  several: z.array(z.enum(["a", "b"])).min(1),
  maybe: z.string().optional(),
});
const valibot = toStandardJsonSchema(
  v.object({
    text: v.pipe(v.string(), v.minLength(2), v.maxLength(9), v.description("Any")),
    email: v.pipe(v.string(), v.email()),
    count: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
    sure: v.optional(v.boolean(), true),
    choice: v.picklist(["a", "b"]),
    only: v.literal("x"),
    either: v.union([v.literal("p"), v.literal("q")]),
    several: v.pipe(v.array(v.picklist(["a", "b"])), v.minLength(1)),
    maybe: v.optional(v.string()),
  }),
);
const arktype = type({
  text: "2 <= string <= 9",
  email: "string.email",
  count: "1 <= number.integer <= 9",
  sure: "boolean = true",
  choice: "'a' | 'b'",
  only: "'x'",
  either: "'p' | 'q'",
  several: "('a' | 'b')[] >= 1",
  "maybe?": "string",
});

test.each<[string, AnySchema]>([
  ["Zod", zod],
  ["Valibot", valibot],
  ["ArkType", arktype as unknown as AnySchema],
])(
  "a form comes from a schema of %s, and the handler gets the checked value [ELIC-FORM-SCHEMA]",
  async (_, schema) => {
    const content = {
      text: "hello",
      email: "a@b.example",
      count: 3,
      choice: "b",
      only: "x",
      either: "q",
      several: ["a"],
    };
    const { form, properties, text } = await fill(schema, content);
    expect(properties).toMatchObject({
      text: { type: "string", minLength: 2, maxLength: 9 },
      email: { type: "string", format: "email" },
      count: { type: "integer", minimum: 1, maximum: 9 },
      sure: { type: "boolean" },
      choice: { type: "string", enum: ["a", "b"] },
      only: { type: "string", enum: ["x"] },
      either: { type: "string" },
      several: { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b"] } },
      maybe: { type: "string" },
    });
    const fields = new Set(Object.values(properties).flatMap((field) => Object.keys(field)));
    for (const stranger of ["pattern", "const", "anyOf", "$schema"]) expect(fields).not.toContain(stranger);
    expect(form["required"]).toEqual(expect.arrayContaining(["text", "several"]));
    expect(form["required"]).not.toContain("maybe");
    expect(JSON.parse(String(text))).toEqual({ ...content, sure: true });
  },
);

const object = (field: unknown): JsonObject => ({ type: "object", properties: { field } });
const withDefinition = (a: unknown): JsonObject => ({ ...object({ $ref: "#/$defs/a" }), $defs: { a } });
const itself = { $ref: "#/$defs/a" };
const selfish = withDefinition({ anyOf: [{ type: "string" }, itself] });

test.each<[string, AnySchema, string]>([
  ["a text", { type: "string" }, "schema must be the schema of an object"],
  ["an object without properties", { type: "object" }, "schema must be the schema of an object"],
  ["a list", { type: "array", items: {} }, "schema must be the schema of an object"],
  ["an object in an object", object({ type: "object", properties: {} }), "field must be a string, number"],
  ["a list of texts", object({ type: "array", items: { type: "string" } }), "field must be a string, number"],
  [
    "a list of objects",
    object({ type: "array", items: { type: "object" } }),
    "field must be a string, number",
  ],
  [
    "a list of numbers to choose from",
    object({ type: "array", items: { enum: [1, 2] } }),
    "field must be a string, number",
  ],
  ["null", object({ type: "null" }), "field must be a string, number"],
  ["several types", object({ type: ["string", "null"] }), "field must be a string, number"],
  ["no type", object({}), "field must be a string, number"],
  ["a field that may be itself", selfish, "field must be a string, number"],
  ["a field that is nothing but itself", withDefinition(itself), "field must be a string, number"],
  ["a list of itself", withDefinition({ type: "array", items: itself }), "field must be a string, number"],
  ["a nullable field", z.object({ field: z.string().nullable() }), "field must be a string, number"],
])(
  "what is no form is a ConfigurationError that names the field: %s [ELIC-FORM-SCHEMA]",
  async (_, schema, problem) => {
    let error: unknown;
    const { ask } = await askingTool(async (__, ctx) => {
      await ctx.elicit("Fill in", schema).catch((reason: unknown) => {
        error = reason;
      });
      return "done";
    });
    expect(await ask()).toMatchObject({ resultType: "complete" });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ code: "INVALID_SCHEMA", subject: "elicitation" });
    expect((error as Error).message).toContain(problem);
  },
);

const colour = z.enum(["red", "green"]).meta({ id: "colour" });

test.each<[string, AnySchema]>([
  ["Zod", z.object({ one: colour, some: z.array(colour), other: colour.default("red").describe("Or") })],
  [
    "JSON Schema",
    {
      $ref: "#/$defs/form",
      $defs: {
        form: {
          type: "object",
          properties: {
            one: { $ref: "#/$defs/hue" },
            some: { type: "array", items: { $ref: "#/$defs/colour" } },
            other: { $ref: "#/$defs/colour", default: "red", description: "Or" },
          },
          required: ["one", "some"],
        },
        hue: { $ref: "#/$defs/colour" },
        colour: { type: "string", enum: ["red", "green"] },
      },
    },
  ],
])(
  "fields that a schema of %s defines once and uses twice stand where they are used [ELIC-FORM-SCHEMA]",
  async (_, schema) => {
    const { properties, text } = await fill(schema, { one: "red", some: ["green"], other: "red" });
    expect(properties).toEqual({
      one: { type: "string", enum: ["red", "green"] },
      some: { type: "array", items: { type: "string", enum: ["red", "green"] } },
      other: { type: "string", enum: ["red", "green"], default: "red", description: "Or" },
    });
    expect(JSON.parse(String(text))).toMatchObject({ one: "red", some: ["green"] });
  },
);

test("the bounds of every integer are no bounds to show [ELIC-FORM-SCHEMA]", async () => {
  const schema = z.object({ any: z.int(), some: z.int().min(1) });
  const { properties } = await fill(schema, { any: 5, some: 5 });
  expect(properties).toEqual({ any: { type: "integer" }, some: { type: "integer", minimum: 1 } });
});

test("a number or a yes to choose is no text [ELIC-FORM-SCHEMA]", async () => {
  const schema = z.object({ five: z.literal(5), yes: z.literal(true) });
  const { properties, text } = await fill(schema, { five: 5, yes: true });
  expect(properties).toEqual({ five: { type: "number" }, yes: { type: "boolean" } });
  expect(text).toBe('{"five":5,"yes":true}');
});

test("formats that are none of the four are left out [ELIC-FORM-STRING-FORMATS]", async () => {
  const { properties } = await fill(object({ type: "string", format: "uuid" }), {
    field: "00000000-0000-4000-8000-000000000000",
  });
  expect(properties["field"]).toEqual({ type: "string" });
});
