// The versions of Zod, and zod/mini: each works, or says exactly what it needs.
import { McpServer, type ServerOptions } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, test } from "vitest";
import * as mini from "zod/mini";
import * as z from "zod";
import * as z3 from "zod-3";
import * as z40 from "zod-3/v4";
import * as mini40 from "zod-3/v4-mini";
import * as z41 from "zod-4-1";
import * as mini41 from "zod-4-1/mini";

const info = { name: "test", version: "1.0.0" };

/** The remedy in the error for a library that needs a converter. */
const needs = "pass new McpServer(info, { toJsonSchema: z.toJSONSchema })";
const either = `use zod 4.2 or later, or ${needs}`;

const libraries = {
  "zod 4.0": {
    make: () => z40.object({ city: z40.string() }),
    toJsonSchema: z40.toJSONSchema,
    remedy: either,
  },
  "zod 4.1": {
    make: () => z41.object({ city: z41.string() }),
    toJsonSchema: z41.toJSONSchema,
    remedy: either,
  },
  "zod/mini": {
    make: () => mini.object({ city: mini.string() }),
    toJsonSchema: mini.toJSONSchema,
    remedy: needs,
  },
  "zod/mini of 4.0": {
    make: () => mini40.object({ city: mini40.string() }),
    toJsonSchema: mini40.toJSONSchema,
    remedy: needs,
  },
  "zod/mini of 4.1": {
    make: () => mini41.object({ city: mini41.string() }),
    toJsonSchema: mini41.toJSONSchema,
    remedy: needs,
  },
};

/** Calls a tool, renders a prompt and asks with the schema, and answers what the tool publishes. */
async function use(
  schema: ReturnType<(typeof libraries)["zod 4.1"]["make"]>,
  options: ServerOptions,
): Promise<unknown> {
  const server = new McpServer(info, options);
  server.tool("weather", { input: schema, output: schema }, async ({ city }, ctx) => {
    const asked = await ctx.elicit("Which?", schema);
    return { city: `${city} ${asked.city}` };
  });
  server.prompt("ask", { arguments: schema }, ({ city }) => city);
  const client = await connect(server, {
    revision: "2026-07-28",
    capabilities: { elicitation: { form: {} } },
    answer: () => ({ action: "accept", content: { city: "Porto" } }),
  });
  const answer = await client.request("tools/call", { name: "weather", arguments: { city: "Faro" } });
  expect(answer["structuredContent"]).toEqual({ city: "Faro Porto" });
  const wrong = await client.request("tools/call", { name: "weather", arguments: { city: 5 } });
  expect(wrong["isError"]).toBe(true);
  expect(await client.request("prompts/get", { name: "ask", arguments: { city: "Faro" } })).toMatchObject({
    messages: [{ content: { text: "Faro" } }],
  });
  await client.close();
  return server.toolInputSchema("weather");
}

const published = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

test("zod 4.2 and later need nothing", async () => {
  expect(await use(z.object({ city: z.string() }) as never, {})).toMatchObject(published);
});

describe.each(Object.entries(libraries))("%s", (name, { make, toJsonSchema, remedy }) => {
  test("works where the server has toJsonSchema", async () => {
    expect(await use(make() as never, { toJsonSchema })).toMatchObject(published);
  });

  test("says what it needs where it does not", () => {
    const server = new McpServer(info);
    const version = name.startsWith("zod/mini")
      ? "zod/mini 4\\.\\d+\\.\\d+"
      : `${name.replace(".", "\\.")}\\.\\d+`;
    expect(() => server.tool("x", { input: make() }, () => "")).toThrow(
      expect.objectContaining({
        code: "INVALID_SCHEMA",
        message: expect.stringMatching(
          new RegExp(`^tool "x": input \\(${version}\\) cannot be published as JSON Schema: `),
        ),
      }),
    );
    expect(() => server.prompt("x", { arguments: make() }, () => "")).toThrow(remedy);
  });
});

describe("zod 3", () => {
  test("says which version is needed", () => {
    const schema = z3.object({ city: z3.string() });
    const server = new McpServer(info);
    expect(() => server.tool("x", { input: schema }, ({ city }) => city)).toThrow(
      'tool "x": input (zod 3) cannot be published as JSON Schema: use zod 4.2 or later',
    );
    const converting = new McpServer(info, { toJsonSchema: z.toJSONSchema });
    expect(() => converting.tool("x", { input: schema }, () => "")).toThrow(
      "(zod 3) cannot be published as JSON Schema: ",
    );
  });

  test("works with a function that writes its schemas", async () => {
    const schema = z3.object({ city: z3.string() });
    expect(await use(schema as never, { toJsonSchema: () => published })).toEqual(published);
  });
});

test("a function that returns no schema is refused at registration", () => {
  const server = new McpServer(info, { toJsonSchema: () => [] });
  expect(() => server.tool("x", { input: mini.object({}) }, () => "")).toThrow(
    expect.objectContaining({
      code: "INVALID_SCHEMA",
      message: expect.stringContaining("toJsonSchema returned no object"),
    }),
  );
});
