// What the compiler knows of a tool: its arguments, and what its handler may return.
import type { CallToolResult as OfficialResult } from "@modelcontextprotocol/sdk/types.js";
import { type JSONSchema7, toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import {
  type CallToolResult,
  type Context,
  type Handle,
  type JsonObject,
  type JsonSchema,
  McpServer,
  result,
  text,
  type ToolResult,
} from "halyard";
import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";

const server = new McpServer({ name: "types", version: "1.0.0" });

describe("arguments", () => {
  test("are inferred from a Zod schema, after its defaults and transforms", () => {
    const input = z.object({
      city: z.string(),
      days: z.number().default(3),
      at: z.string().transform(Number),
    });
    server.tool("t", { input }, (args, ctx) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; at: number }>();
      expectTypeOf(ctx).toExtend<Context>();
      return "";
    });
  });

  test("are inferred from a Valibot schema", () => {
    const input = toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 3) }));
    server.tool("t", { input }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
      return "";
    });
  });

  test("are inferred from an ArkType schema", () => {
    server.tool("t", { input: type({ city: "string", "days?": "number" }) }, (args) => {
      expectTypeOf(args.city).toEqualTypeOf<string>();
      expectTypeOf(args.days).toEqualTypeOf<number | undefined>();
      return "";
    });
  });

  test("of a plain JSON Schema are a record of unknown values", () => {
    server.tool("t", { input: { type: "object", properties: { a: { type: "string" } } } }, (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
      return "";
    });
  });

  test("are an empty object without input, also those of a prompt", () => {
    server.tool("t", {}, (args) => {
      expectTypeOf(args).toEqualTypeOf<{}>();
      // @ts-expect-error: there are no arguments
      return args.city;
    });
    server.prompt("p", {}, (args) => {
      expectTypeOf(args).toEqualTypeOf<{}>();
      return "";
    });
  });

  test("that the schema has not are a mistake", () => {
    server.tool("t", { input: z.object({ city: z.string() }) }, (args) => {
      // @ts-expect-error: there is no such argument
      return args.town;
    });
  });
});

describe("without output", () => {
  test("a handler returns text, content, a result or nothing, at once or later", () => {
    server.tool("t", {}, () => "text");
    server.tool("t", {}, async () => "text");
    server.tool("t", {}, () => text("block"));
    server.tool("t", {}, () => [text("a"), text("b")]);
    server.tool("t", {}, () => ({ type: "text", text: "literal" }));
    server.tool("t", {}, async () => [{ type: "image", data: "", mimeType: "image/png" }]);
    server.tool("t", {}, () => result({ content: "x", isError: true }));
    server.tool("t", {}, () => {});
  });

  test("a handler cannot return anything else", () => {
    // @ts-expect-error: a number is no content
    server.tool("t", {}, () => 5);
    // @ts-expect-error: no block has this type
    server.tool("t", {}, () => ({ type: "video", data: "" }));
    // @ts-expect-error: an image needs its type
    server.tool("t", {}, () => ({ type: "image", data: "" }));
    // @ts-expect-error: a plain object is no content
    server.tool("t", {}, async () => ({ celsius: 21 }));
  });
});

describe("a result as the protocol writes it", () => {
  const output = z.object({ celsius: z.number() });

  test("may be returned with and without output, at once or later", () => {
    server.tool("t", {}, () => ({ content: [{ type: "text", text: "x" }], isError: true }));
    server.tool("t", {}, async () => ({ content: [text("x")], structuredContent: { a: 1 }, _meta: {} }));
    server.tool("t", { output }, () => ({
      content: [{ type: "text", text: "x" }],
      structuredContent: { celsius: 21 },
    }));
    server.tool("t", { output }, async () => ({ content: [{ type: "text", text: "No" }], isError: true }));
  });

  test("may have the type of this package, or of the official one", () => {
    const run = async (): Promise<CallToolResult> => ({ content: [] });
    server.tool("t", {}, run);
    server.tool("t", { output }, run);
    server.tool("t", { output: { type: "object" } }, run);
    const official = async (): Promise<OfficialResult> => ({ content: [] });
    server.tool("t", {}, official);
    server.tool("t", { output }, official);
  });

  test("holds a value of the output schema", () => {
    const content = [text("x")];
    server.tool("t", { output }, async () => ({ content, structuredContent: { celsius: 21 } }));
    const feature = z.object({ feature: z.literal("delete") });
    server.tool("t", { output: feature }, () => ({ content, structuredContent: { feature: "delete" } }));
    // @ts-expect-error: not a number
    server.tool("t", { output }, () => ({ content, structuredContent: { celsius: "21" } }));
    // @ts-expect-error: not a number, later
    server.tool("t", { output }, async () => ({ content, structuredContent: { celsius: "21" } }));
    // @ts-expect-error: nothing in it
    server.tool("t", { output }, async () => ({ content, structuredContent: {} }));
  });

  test("needs its fields", () => {
    // @ts-expect-error: a block without its text
    server.tool("t", {}, () => ({ content: [{ type: "text" }] }));
    // @ts-expect-error: content is a list
    server.tool("t", {}, () => ({ content: "x" }));
    // @ts-expect-error: nothing that counts
    server.tool("t", { output }, () => ({ isError: true }));
  });
});

describe("schemas", () => {
  test("a JSON Schema may have the types of another package", () => {
    expectTypeOf<JSONSchema7>().toExtend<JsonSchema>();
    expectTypeOf<z.core.JSONSchema.ObjectSchema>().toExtend<JsonSchema>();
    expectTypeOf<JsonObject>().toExtend<JsonSchema>();
    expectTypeOf<Record<string, unknown>>().toExtend<JsonSchema>();
    const schema = {} as JSONSchema7;
    server.tool("t", { input: schema, output: schema }, (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
      return {};
    });
    server.tool("t", { input: { type: "object", "x-own": 1, additionalProperties: false } }, () => "");
  });

  test("a raw shape is a mistake everywhere", () => {
    const shape = { city: z.string() };
    // @ts-expect-error: not a schema
    server.tool("t", { input: { city: z.string() } }, () => "");
    // @ts-expect-error: not a schema
    server.tool("t", { input: shape }, () => "");
    // @ts-expect-error: not a schema
    server.tool("t", { output: shape }, () => ({ city: "" }));
    // @ts-expect-error: not a schema
    server.prompt("p", { arguments: shape }, () => "");
  });
});

describe("with output", () => {
  const output = z.object({ celsius: z.number() });

  test("a handler returns the value, or a result that holds it", () => {
    server.tool("t", { output }, () => ({ celsius: 21 }));
    server.tool("t", { output }, async () => ({ celsius: 21 }));
    server.tool("t", { output }, () => result({ content: "21", structured: { celsius: 21 } }));
    server.tool("t", { output }, () => result({ content: "sorry", isError: true }));
    server.tool("t", { output: z.array(z.number()) }, () => [1, 2]);
    server.tool("t", { output: z.null() }, () => null);
  });

  test("a value of another type is a mistake", () => {
    // @ts-expect-error: not a number
    server.tool("t", { output }, () => ({ celsius: "21" }));
    // @ts-expect-error: nothing in it
    server.tool("t", { output }, () => ({}));
    // @ts-expect-error: text is not the value
    server.tool("t", { output }, () => "21");
    // @ts-expect-error: nothing at all
    server.tool("t", { output }, () => {});
    // @ts-expect-error: not a number either
    server.tool("t", { output }, async () => ({ celsius: null }));
    // @ts-expect-error: wrapped, and still not a number
    server.tool("t", { output }, () => result({ structured: { celsius: "21" } }));
  });

  test("the value is what goes into the schema, and arguments are known beside it", () => {
    const withDefault = z.object({ unit: z.string().default("C") });
    server.tool("t", { input: z.object({ a: z.string() }), output: withDefault }, ({ a }) => {
      expectTypeOf(a).toEqualTypeOf<string>();
      return {};
    });
  });
});

describe("handles and helpers", () => {
  test("update() knows the definition it changes", () => {
    const handle = server.tool("t", { input: z.object({ a: z.string() }) }, ({ a }) => a);
    expectTypeOf(handle).toExtend<Handle<never>>();
    handle.update({ description: "new", handler: ({ a }) => a.toUpperCase() });
    // @ts-expect-error: there is no such field
    handle.update({ descripton: "typo" });
    // @ts-expect-error: there is no such argument
    handle.update({ handler: ({ b }) => b });
  });

  test("result() keeps the type of its structured value", () => {
    expectTypeOf(result({ structured: { a: 1 } })).toEqualTypeOf<ToolResult<{ a: number }>>();
  });

  test("definitions are checked", () => {
    // @ts-expect-error: hints are yes or no
    server.tool("t", { annotations: { readOnlyHint: "yes" } }, () => "");
    // @ts-expect-error: there is no such theme
    server.tool("t", { icons: [{ src: "https://e.com", theme: "blue" }] }, () => "");
    // @ts-expect-error: a handler is needed
    server.tool("t", {});
  });
});
