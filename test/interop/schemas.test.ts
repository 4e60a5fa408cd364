// The official clients read what a server publishes for tuples and for older drafts, and take each result that the server takes.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { type AnySchema, McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import * as TypeBox from "typebox";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { officialClients } from "./clients.ts";

const { Number, Object: Fields, String, Tuple } = TypeBox;
const number = { type: "number" } as const;
const text = { type: "string" } as const;

interface Case {
  readonly schema: AnySchema;
  readonly fitting: readonly unknown[];
  readonly others: readonly unknown[];
}

const pairs = { fitting: [[1, "a"]], others: [["a", 1], [1, "a", 2], [1]] };
const rests = { fitting: [[1], [1, "a", "b"]], others: [["a"], [1, 2]] };
const numbers = { fitting: [2, 3], others: [1, 4] };
const draft04 = "http://json-schema.org/draft-04/schema#";
const draft07 = "http://json-schema.org/draft-07/schema#";

function plain(value: object, named: object = {}): AnySchema {
  return { ...named, type: "object", properties: { value }, required: ["value"] } as AnySchema;
}

const cases: readonly (readonly [string, Case])[] = [
  ["a tuple of Zod", { schema: z.object({ value: z.tuple([z.number(), z.string()]) }), ...pairs }],
  ["a rest of Zod", { schema: z.object({ value: z.tuple([z.number()]).rest(z.string()) }), ...rests }],
  ["a tuple of TypeBox", { schema: Fields({ value: Tuple([Number(), String()]) }), ...pairs }],
  ["a tuple of ArkType", { schema: type({ value: ["number", "string"] }), ...pairs }],
  ["a rest of ArkType", { schema: type({ value: ["number", "...", "string[]"] }), ...rests }],
  [
    "a tuple of Valibot",
    { schema: toStandardJsonSchema(v.object({ value: v.strictTuple([v.number(), v.string()]) })), ...pairs },
  ],
  [
    "a rest of Valibot",
    {
      schema: toStandardJsonSchema(v.object({ value: v.tupleWithRest([v.number()], v.string()) })),
      ...rests,
    },
  ],
  [
    "a tuple of 2020-12",
    { schema: plain({ type: "array", prefixItems: [number, text], items: false, minItems: 2 }), ...pairs },
  ],
  [
    "a tuple of draft-07, named",
    {
      schema: plain(
        { type: "array", items: [number, text], additionalItems: false, minItems: 2 },
        { $schema: draft07 },
      ),
      ...pairs,
    },
  ],
  [
    "limits of draft-04, named",
    {
      schema: plain(
        { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
        { $schema: draft04 },
      ),
      ...numbers,
    },
  ],
  [
    "limits of draft-04 under draft-07",
    { schema: plain({ minimum: 1, exclusiveMinimum: true, maximum: 3 }, { $schema: draft07 }), ...numbers },
  ],
];

describe.each(officialClients)("$name", ({ connect }) => {
  test.each(cases)("takes %s in arguments and results", async (_, { schema, fitting, others }) => {
    const server = new McpServer({ name: "schemas", version: "1.0.0" });
    server.tool("check", { input: schema, output: schema }, (args) => args as never);
    const http = await serveHttp(server, { port: 0, graceMs: 200 });
    const client = await connect({
      kind: "url",
      url: http.url,
      stats: () => http.stats(),
      close: () => http.close(),
    });
    await client.tools();
    for (const value of fitting) {
      const { structuredContent, isError } = await client.call("check", { value });
      expect([isError ?? false, structuredContent]).toEqual([false, { value }]);
    }
    for (const value of others) expect((await client.call("check", { value })).isError).toBe(true);
    await client.close();
    await http.close();
  });
});
