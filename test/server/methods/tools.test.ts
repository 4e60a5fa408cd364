// tools/list and tools/call: how a tool is published, found, given its arguments and refused.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { ConfigurationError, ToolError } from "halyard";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { call, list, makeServer, open, refusal, textOf, toolNames } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

const inputs = {
  Zod: z.object({ city: z.string(), days: z.number().default(3) }),
  Valibot: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 3) })),
  ArkType: type({ city: "string", days: "number = 3" }),
} as const;

describeMatrix("tools", {}, (cell) => {
  test("a server that offers tools declares the capability, and one that does not has no tool methods [TOOL-CAP]", async () => {
    const { server } = makeServer();
    const without = await open(cell, server);
    expect(server.capabilities(cell.revision).tools).toBeUndefined();
    expect((await refusal(without.request("tools/list"))).code).toBe(-32601);
    server.tool("one", {}, () => "1");
    const capabilities =
      cell.era === "modern"
        ? (await without.request("server/discover"))["capabilities"]
        : await cell.connect(server, { handshake: false }).then(async (client) => {
            const result = await client.open();
            await client.close();
            return result?.["capabilities"];
          });
    expect(capabilities).toMatchObject({ tools: { listChanged: true } });
  });

  test.each(Object.entries(inputs))("a tool with a %s schema gets parsed arguments", async (_, input) => {
    const { server } = makeServer();
    server.tool("forecast", { input }, ({ city, days }) => `${city} ${days}`);
    const client = await open(cell, server);
    expect(textOf(await call(client, "forecast", { city: "Oslo" }))).toBe("Oslo 3");
    expect(textOf(await call(client, "forecast", { city: "Oslo", days: 5 }))).toBe("Oslo 5");
  });

  test.each(Object.entries(inputs))(
    "a tool with a %s schema publishes it as a JSON Schema of an object [TOOL-INPUTSCHEMA-OBJECT]",
    async (_, input) => {
      const { server } = makeServer();
      server.tool("forecast", { input }, () => "");
      const [tool] = await list(await open(cell, server), "tools/list");
      expect(tool).toMatchObject({
        name: "forecast",
        inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      });
    },
  );

  test("a plain JSON Schema is published as it is, with every keyword [TOOL-INPUTSCHEMA-ANY-KEYWORD]", async () => {
    const { server } = makeServer();
    const input = {
      type: "object",
      $defs: { size: { $anchor: "size", enum: ["s", "m"] } },
      properties: { size: { $ref: "#/$defs/size" }, n: { type: "integer" } },
      oneOf: [{ required: ["size"] }, { required: ["n"] }],
      if: { required: ["n"] },
      // A schema keyword, not a promise.
      // oxlint-disable-next-line unicorn/no-thenable
      then: { properties: { n: { minimum: 1 } } },
      additionalProperties: false,
    };
    server.tool("shirt", { input }, (args) => JSON.stringify(args));
    const client = await open(cell, server);
    expect((await list(client, "tools/list"))[0]?.["inputSchema"]).toEqual(input);
    expect(textOf(await call(client, "shirt", { size: "m" }))).toBe('{"size":"m"}');
  });

  test("a tool without input publishes that it takes no arguments [TOOL-INPUTSCHEMA-NOPARAMS, TOOL-INPUTSCHEMA-OBJECT]", async () => {
    const { server } = makeServer();
    server.tool("now", {}, (args) => JSON.stringify(args));
    const client = await open(cell, server);
    expect((await list(client, "tools/list"))[0]?.["inputSchema"]).toEqual({
      type: "object",
      additionalProperties: false,
    });
    expect(textOf(await call(client, "now"))).toBe("{}");
  });

  test("a schema with asynchronous checks is waited for", async () => {
    const { server } = makeServer();
    const input = z.object({
      user: z.string().refine(async (name) => (await Promise.resolve(name)) === "ada"),
    });
    server.tool("greet", { input }, ({ user }) => `Hello ${user}`);
    const client = await open(cell, server);
    expect(textOf(await call(client, "greet", { user: "ada" }))).toBe("Hello ada");
    const outcome = await call(client, "greet", { user: "bob" }).catch((error: unknown) => error);
    expect(outcome).toMatchObject(cell.revision >= "2025-11-25" ? { isError: true } : { code: -32602 });
  });

  test("tools/list is in order of registration, each time [TOOL-ORDER]", async () => {
    const { server } = makeServer();
    const names = ["zeta", "alpha", "Mid", "10", "2"];
    for (const name of names) server.tool(name, {}, () => "");
    const client = await open(cell, server);
    expect(await toolNames(client)).toEqual(names);
    server.tools.get("alpha")?.disable();
    server.tools.get("alpha")?.enable();
    server.tools.get("zeta")?.update({ description: "changed" });
    expect(await toolNames(client)).toEqual(names);
  });

  test("names are case-sensitive [TOOL-NAME-CASE]", async () => {
    const { server } = makeServer();
    server.tool("echo", {}, () => "lower");
    server.tool("Echo", {}, () => "upper");
    const client = await open(cell, server);
    expect(textOf(await call(client, "echo"))).toBe("lower");
    expect(textOf(await call(client, "Echo"))).toBe("upper");
    expect((await refusal(call(client, "ECHO"))).code).toBe(-32602);
  });

  test.each(["constructor", "toString", "__proto__", "hasOwnProperty", "then"])(
    "a tool may be named %s; without one of that name it is unknown [TOOL-ERR-UNKNOWN]",
    async (name) => {
      const { server } = makeServer();
      server.tool("other", {}, () => "");
      const client = await open(cell, server);
      const error = await refusal(call(client, name));
      expect(error).toMatchObject({ code: -32602, message: `Unknown tool: ${name}` });
      server.tool(name, {}, () => `I am ${name}`);
      expect(await toolNames(client)).toEqual(["other", name]);
      expect(textOf(await call(client, name))).toBe(`I am ${name}`);
    },
  );

  test.skipIf(cell.transport === "http" && cell.era === "modern").each([
    ["no name", {}],
    ["a name that is a number", { name: 7 }],
    ["a name that is null", { name: null }],
    ["a name that is an object", { name: { toString: "x" } }],
    ["arguments that are a list", { name: "echo", arguments: [] }],
    ["arguments that are null", { name: "echo", arguments: null }],
    ["arguments that are a string", { name: "echo", arguments: "x" }],
  ])("tools/call with %s is -32602 [TOOL-ERR-MALFORMED]", async (_, params) => {
    const { server, log } = makeServer();
    server.tool("echo", { input: z.object({}) }, () => "never");
    const client = await open(cell, server);
    const error = await refusal(client.request("tools/call", params));
    expect(error.code).toBe(-32602);
    expect(error.message).not.toMatch(/^\[|ZodError|invalid_type/);
    expect(log).toEqual([]);
  });

  test("a disabled tool is neither listed nor callable, and comes back when enabled", async () => {
    const { server } = makeServer();
    const handle = server.tool("shy", {}, () => "here");
    const client = await open(cell, server);
    handle.disable();
    expect(await toolNames(client)).toEqual([]);
    expect(await refusal(call(client, "shy"))).toMatchObject({ code: -32602, message: "Unknown tool: shy" });
    handle.enable();
    expect(await toolNames(client)).toEqual(["shy"]);
    expect(textOf(await call(client, "shy"))).toBe("here");
  });

  test("a call by a client that lacks a required capability is -32021 and names what is missing", async () => {
    const { server } = makeServer();
    let runs = 0;
    server.tool("ask", { requires: { elicitation: { form: {} }, sampling: {} } }, () => `${++runs}`);
    const client = await open(cell, server, { capabilities: { sampling: {} } });
    const error = await refusal(call(client, "ask"));
    expect(error.code).toBe(-32021);
    expect(error.data).toEqual({ requiredCapabilities: { elicitation: { form: {} } } });
    expect(error.message).toContain("ask");
    expect(runs).toBe(0);
    const able = await open(cell, server, { capabilities: { elicitation: {}, sampling: {} } });
    expect(textOf(await call(able, "ask"))).toBe("1");
    const urlOnly = await open(cell, server, { capabilities: { elicitation: { url: {} }, sampling: {} } });
    expect((await refusal(call(urlOnly, "ask"))).code).toBe(-32021);
  });
});

describeMatrix("input validation", {}, (cell) => {
  const input = z.object({ n: z.number() });

  /** How this revision tells a client that its arguments do not fit. */
  async function problemOf(answer: Promise<unknown>): Promise<string> {
    if (cell.revision < "2025-11-25") {
      const error = await refusal(answer);
      expect(error.code).toBe(-32602);
      return error.message;
    }
    const result = (await answer) as { isError?: boolean; content: { text: string }[] };
    expect(result.isError).toBe(true);
    return result.content[0]?.text ?? "";
  }

  const jsonInput = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

  test.each([
    ["Zod", input],
    ["Valibot", toStandardJsonSchema(v.object({ n: v.number() }))],
    ["ArkType", type({ n: "number" })],
    ["JSON Schema", jsonInput],
  ])(
    "arguments that do not fit a %s schema are told to the model from 2025-11-25, -32602 before [TOOL-ERR-INPUT-VALIDATION, TOOL-ERR-INVALID-ARGS-OLD]",
    async (_, schema) => {
      const { server, log } = makeServer();
      let runs = 0;
      server.tool("double", { input: schema }, () => `${++runs}`);
      const client = await open(cell, server);
      const problem = await problemOf(call(client, "double", { n: "four" }));
      expect(problem).toContain("double");
      expect(problem).toMatch(/\bn\b/);
      await problemOf(call(client, "double"));
      expect(runs).toBe(0);
      expect(log).toEqual([]);
    },
  );

  test("nested problems are named by their path", async () => {
    const { server } = makeServer();
    server.tool("zod", { input: z.object({ to: z.array(z.object({ zip: z.string() })) }) }, () => "");
    server.tool(
      "json",
      {
        input: {
          type: "object",
          properties: { to: { type: "array", items: { properties: { zip: { type: "string" } } } } },
        },
      },
      () => "",
    );
    const client = await open(cell, server);
    for (const name of ["zod", "json"]) {
      expect(await problemOf(call(client, name, { to: [{ zip: "1" }, { zip: 2 }] }))).toContain("to.1.zip");
    }
  });

  test("validation can be switched off for a server, and on again for one tool", async () => {
    const { server } = makeServer({ validateInput: false });
    server.tool("loose", { input }, (args) => JSON.stringify(args));
    server.tool("strict", { input, validateInput: true }, () => "never");
    const client = await open(cell, server);
    expect(textOf(await call(client, "loose", { n: "x", extra: 1 }))).toBe('{"n":"x","extra":1}');
    await problemOf(call(client, "strict", { n: "x" }));
  });

  test("validation can be switched off for one tool", async () => {
    const { server } = makeServer();
    server.tool("loose", { input, validateInput: false }, (args) => JSON.stringify(args));
    server.tool("strict", { input }, () => "never");
    const client = await open(cell, server);
    expect(textOf(await call(client, "loose", { n: "x" }))).toBe('{"n":"x"}');
    await problemOf(call(client, "strict", { n: "x" }));
  });

  test("what a tool itself refuses is a result for the model [TOOL-ERR-EXECUTION]", async () => {
    const { server } = makeServer();
    server.tool("pay", {}, () => {
      throw new ToolError("The card was declined");
    });
    const client = await open(cell, server);
    expect(await call(client, "pay")).toMatchObject({
      content: [{ type: "text", text: "The card was declined" }],
      isError: true,
    });
  });
});

describe("toolInputSchema", () => {
  test("toolInputSchema() is the published schema, and undefined for what cannot be called", () => {
    const { server } = makeServer();
    const input = { type: "object", properties: { a: { type: "string" } } };
    server.tool("plain", { input }, () => "");
    server.tool("zod", { input: z.object({ a: z.string() }) }, () => "");
    server.tool("none", {}, () => "");
    server.tool("off", {}, () => "").disable();
    expect(server.toolInputSchema("plain")).toEqual(input);
    expect(server.toolInputSchema("zod")).toMatchObject({ type: "object", required: ["a"] });
    expect(server.toolInputSchema("none")).toEqual({ type: "object", additionalProperties: false });
    expect(server.toolInputSchema("off")).toBeUndefined();
    expect(server.toolInputSchema("toString")).toBeUndefined();
  });
});

describe("tool names", () => {
  const { server } = makeServer();

  test.each(["a", "A-Z_0.9", "x".repeat(128)])("%s is a name [TOOL-NAME-CHARS, TOOL-NAME-LENGTH]", (name) => {
    expect(() => server.tool(name, {}, () => "")).not.toThrow();
  });

  test.each(["", "x".repeat(129), "my tool", "a,b", "naïve", "a/b", "a\n", "💡"])(
    "%j is refused [TOOL-NAME-CHARS, TOOL-NAME-LENGTH]",
    (name) => {
      expect(() => server.tool(name, {}, () => "")).toThrow(ConfigurationError);
    },
  );

  test("a name can be taken once [TOOL-NAME-UNIQUE]", () => {
    const { server: other } = makeServer();
    const first = other.tool("twice", {}, () => "1");
    expect(() => other.tool("twice", {}, () => "2")).toThrow(
      expect.objectContaining({ code: "DUPLICATE_NAME", subject: 'tool "twice"', field: "name" }),
    );
    first.disable();
    expect(() => other.tool("twice", {}, () => "2")).toThrow(ConfigurationError);
    first.remove();
    expect(() => other.tool("twice", {}, () => "2")).not.toThrow();
  });
});
