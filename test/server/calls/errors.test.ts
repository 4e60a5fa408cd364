// Exceptions: the client gets a safe message with an id, the log has the stack under the same id.
import { type McpServer, ToolError } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect, test } from "vitest";
import * as z from "zod";
import { call, heard, makeServer, open, refusal, secret, textOf } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

function boom(): never {
  throw new Error(`connect ECONNREFUSED ${secret}`);
}

// Not Zod: it tries an asynchronous check synchronously first, and leaves that first rejection unhandled.
const rejecting = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: async (): Promise<never> => boom(),
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
  },
};

const complete = (client: TestClient, ref: object, name: string) =>
  client.request("completion/complete", { ref, argument: { name, value: "" } });

type Place = [string, (server: McpServer) => void, (client: TestClient) => Promise<unknown>, method: string];

const places: Place[] = [
  [
    "a tool",
    (server) => void server.tool("x", {}, boom),
    (client) => client.request("tools/call", { name: "x" }),
    "tools/call",
  ],
  [
    "an asynchronous tool",
    (server) => void server.tool("x", {}, async () => boom()),
    (client) => client.request("tools/call", { name: "x" }),
    "tools/call",
  ],
  [
    "a tool that throws no Error",
    (server) =>
      void server.tool("x", {}, () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw secret;
      }),
    (client) => client.request("tools/call", { name: "x" }),
    "tools/call",
  ],
  [
    "a check of the input",
    (server) => void server.tool("x", { input: z.object({ a: z.string().refine(boom) }) }, () => ""),
    (client) => client.request("tools/call", { name: "x", arguments: { a: "" } }),
    "tools/call",
  ],
  [
    "an asynchronous check of the input",
    (server) => void server.tool("x", { input: rejecting }, () => ""),
    (client) => client.request("tools/call", { name: "x", arguments: { a: "" } }),
    "tools/call",
  ],
  [
    "a check of the output",
    (server) => void server.tool("x", { output: z.string().refine(boom) }, () => ""),
    (client) => client.request("tools/call", { name: "x" }),
    "tools/call",
  ],
  [
    "a prompt",
    (server) => void server.prompt("x", {}, boom),
    (client) => client.request("prompts/get", { name: "x" }),
    "prompts/get",
  ],
  [
    "a check of prompt arguments",
    (server) => void server.prompt("x", { arguments: z.object({ a: z.string().refine(boom) }) }, () => ""),
    (client) => client.request("prompts/get", { name: "x", arguments: { a: "" } }),
    "prompts/get",
  ],
  [
    "a resource",
    (server) => void server.resource("x:y", {}, boom),
    (client) => client.request("resources/read", { uri: "x:y" }),
    "resources/read",
  ],
  [
    "a template",
    (server) => void server.resourceTemplate("x:{y}", {}, async () => boom()),
    (client) => client.request("resources/read", { uri: "x:y" }),
    "resources/read",
  ],
  [
    "a completer of a prompt",
    (server) =>
      void server.prompt("x", { arguments: z.object({ a: z.string() }), complete: { a: boom } }, () => ""),
    (client) => complete(client, { type: "ref/prompt", name: "x" }, "a"),
    "completion/complete",
  ],
  [
    "a completer of a template",
    (server) => void server.resourceTemplate("x:{y}", { complete: { y: boom } }, () => ""),
    (client) => complete(client, { type: "ref/resource", uri: "x:{y}" }, "y"),
    "completion/complete",
  ],
  [
    "the global completer",
    (server) => {
      server.resourceTemplate("x:{y}", {}, () => "");
      server.completion(boom);
    },
    (client) => complete(client, { type: "ref/resource", uri: "x:{y}" }, "y"),
    "completion/complete",
  ],
  [
    "middleware",
    (server) => {
      server.tool("x", {}, () => "");
      server.use((request, _, next) => (request.method === "tools/call" ? boom() : next()));
    },
    (client) => client.request("tools/call", { name: "x" }),
    "tools/call",
  ],
  [
    "middleware, after next()",
    (server) => {
      server.tool("x", {}, () => "");
      server.use("tools/call", async (_, __, next) => {
        await next();
        return boom();
      });
    },
    (client) => client.request("tools/call", { name: "x" }),
    "tools/call",
  ],
];

describeMatrix("an exception of", {}, (cell) => {
  test.each(places)(
    "%s reaches the client as an id only, and the log with its stack [PROMPT-SEC, COMP-SEC, RES-INTERNAL-ERR, PROMPT-ERR, COMP-ERR]",
    async (_, prepare, ask, method) => {
      const { server, log, events } = makeServer();
      prepare(server);
      const client = await open(cell, server);
      const answer: unknown = await ask(client).catch((error: unknown) => error);
      const isResult = !(answer instanceof Error);
      const told = isResult ? textOf(answer as never) : answer.message;
      if (isResult) expect(answer).toHaveProperty("isError", true);
      else expect(answer).toHaveProperty("code", -32603);
      const id = /error id ([0-9a-f]{8})/.exec(told)?.[1];
      expect(id).toBeDefined();
      if (!isResult) expect(answer).toHaveProperty("data", { errorId: id });
      const everything = heard(client);
      for (const never of ["hunter2", "ECONNREFUSED", "postgres", ".ts:", "    at ", "node_modules"]) {
        expect(everything).not.toContain(never);
      }
      expect(log).toHaveLength(1);
      expect(log[0]).toMatchObject({ level: "error", message: expect.stringContaining(id ?? "") });
      expect(log[0]?.details).toMatchObject({ errorId: id, method });
      const thrown = log[0]?.details?.["error"];
      const stack = thrown instanceof Error ? thrown.stack : thrown;
      expect(stack).toContain("hunter2");
      if (thrown instanceof Error) expect(stack).toContain("errors.test");
      expect(events).toContainEqual(
        expect.objectContaining({ type: "handler-error", method, errorId: id, error: thrown }),
      );
    },
  );

  test("a ToolError is told, but not what caused it", async () => {
    const { server, log } = makeServer();
    server.tool("pay", {}, () => {
      throw new ToolError("The bank is closed", { cause: new Error(secret) });
    });
    const client = await open(cell, server);
    expect(await call(client, "pay")).toMatchObject({
      content: [{ type: "text", text: "The bank is closed" }],
      isError: true,
    });
    expect(heard(client)).not.toContain("hunter2");
    expect(log).toEqual([]);
  });

  test("each failure has an id of its own", async () => {
    const { server } = makeServer();
    server.tool("x", {}, boom);
    const client = await open(cell, server);
    const texts = await Promise.all(Array.from({ length: 20 }, async () => textOf(await call(client, "x"))));
    expect(new Set(texts).size).toBe(20);
  });
});

describeMatrix("errors", {}, (cell) => {
  const throwing = (server: McpServer): void => {
    server.tool("x", {}, boom);
    server.tool("shy", { errors: "hidden" }, async () => boom());
    server.tool("open", { errors: "message" }, async () => boom());
    server.tool("text", {}, () => {
      // oxlint-disable-next-line typescript/only-throw-error
      throw "plain text";
    });
    server.tool("nothing", {}, () => {
      throw Object.create(null) as Error;
    });
    server.prompt("x", {}, boom);
    server.resource("x:y", {}, boom);
  };
  const told = `connect ECONNREFUSED ${secret}`;
  const hidden = /^Tool \w+ failed \(error id [0-9a-f]{8}\)$/;

  test('"message" shows the text of every exception, and the log has each once', async () => {
    const { server, log } = makeServer({ errors: "message" });
    throwing(server);
    const client = await open(cell, server);
    expect(await call(client, "x")).toMatchObject({ content: [{ text: told }], isError: true });
    expect(textOf(await call(client, "open"))).toBe(told);
    expect(textOf(await call(client, "text"))).toBe("plain text");
    expect(textOf(await call(client, "nothing"))).toMatch(hidden);
    expect(textOf(await call(client, "shy"))).toMatch(hidden);
    expect(await refusal(client.request("prompts/get", { name: "x" }))).toMatchObject({
      code: -32603,
      message: told,
      data: { errorId: log.at(-1)?.details?.["errorId"] },
    });
    expect(await refusal(client.request("resources/read", { uri: "x:y" }))).toMatchObject({ message: told });
    expect(log).toHaveLength(7);
  });

  test("an exception whose message cannot be read is answered all the same", async () => {
    const { server, log } = makeServer({ errors: "message" });
    const evasive = (): never => {
      throw Object.defineProperty(new Error("x"), "message", { get: boom });
    };
    server.tool("evasive", {}, evasive);
    server.resource("x:z", {}, evasive);
    const client = await open(cell, server);
    expect(textOf(await call(client, "evasive"))).toMatch(hidden);
    expect((await refusal(client.request("resources/read", { uri: "x:z" }))).message).toMatch(/error id/);
    expect(log).toHaveLength(2);
  });

  test("are hidden unless a tool says otherwise", async () => {
    const { server, log } = makeServer();
    throwing(server);
    const client = await open(cell, server);
    expect(textOf(await call(client, "x"))).toMatch(hidden);
    expect(textOf(await call(client, "open"))).toBe(told);
    expect(log).toHaveLength(2);
  });
});

describeMatrix("parameters of the wrong kind", {}, (cell) => {
  test.skipIf(cell.transport === "http" && cell.era === "modern").each<[string, object]>([
    ["tools/call", {}],
    ["tools/call", { name: [] }],
    ["tools/list", { cursor: 5 }],
    ["prompts/get", {}],
    ["prompts/list", { cursor: {} }],
    ["resources/read", {}],
    ["resources/list", { cursor: [] }],
    ["resources/templates/list", { cursor: true }],
    ["completion/complete", {}],
  ])("%s with %j is -32602 in plain words", async (method, params) => {
    const { server, log } = makeServer();
    server.tool("t", {}, () => "");
    server.prompt("p", {}, () => "");
    server.resource("a:b", {}, () => "");
    server.completion(() => []);
    const client = await open(cell, server);
    const error = await refusal(client.request(method, { ...params }));
    expect(error.code).toBe(-32602);
    expect(error.message).not.toMatch(/[[\]{}]|\n/);
    if (method === "resources/read") expect(error.message).toBe("uri is missing");
    expect(log).toEqual([]);
  });
});
