// Further mistakes of a first day with a server: each row is what is written, and the whole text that is read.
import { McpServer, text, ToolError } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { fastify } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { call, makeServer, open, refusal } from "../support/catalogue.ts";
import { type LogEntry, recordingLogger } from "../support/log.ts";
import { type Cell, cells } from "../support/matrix.ts";
import { until } from "../support/turns.ts";

/** As JavaScript sees it: nothing has a type. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const eras = cells({ transports: ["memory"] });
const [newest] = eras as [Cell];
const info = { name: "test", version: "1.0.0" };
const run = (): string => "";

/** The message of the last exception in the log. */
function lastOf(log: readonly LogEntry[]): unknown {
  return (log.at(-1)?.details?.["error"] as Error | undefined)?.message;
}

describe("a mistake in a definition", () => {
  test.each<[message: string, write: (server: Untyped) => unknown]>([
    [
      'tool "t": requires.sampleing is not a capability: did you mean sampling?',
      (server) => server.tool("t", { requires: { sampleing: {} } }, run),
    ],
    [
      'resource template "n:///${name}": uriTemplate has ${name}, which is JavaScript: write {name}',
      // oxlint-disable-next-line no-template-curly-in-string
      (server) => server.resourceTemplate("n:///${name}", {}, run),
    ],
    [
      "server: limits.maxSessions belongs to the transport: serveHttp(server, { limits: { maxSessions } })",
      () => new McpServer(info, { limits: { maxSessions: 1 } } as Untyped),
    ],
    [
      "resource: the first argument is a URL: pass its text, url.href",
      (server) => server.resource(new URL("note:///a"), {}, run),
    ],
    [
      'HTTP: allowedHosts must be a list of hosts such as "mcp.example.com", without a scheme or a path, not ["*.example.com"]: name each host, without *',
      () => fetchHandler(new McpServer(info), { allowedHosts: ["*.example.com"] }),
    ],
    [
      'HTTP: path must be the path of a URL, such as "/mcp", not "/mcp/*": patterns of routers do not work: make one handler for each path',
      () => fetchHandler(new McpServer(info), { path: "/mcp/*" }),
    ],
    [
      "server: logger must be an object with debug, info, warn and error, such as console, not an instance of Pino: pino takes the object first, so wrap it: warn: (message, details) => log.warn(details, message)",
      () => new McpServer(info, { logger: fastify({ logger: { level: "silent" } }).log } as Untyped),
    ],
    [
      "server: backplane must be redisBackplane(client) or natsBackplane(connection): pass redisBackplane(client)",
      () => new McpServer(info, { backplane: { duplicate: run } } as Untyped),
    ],
    ["new ToolError(message): message must be a text, not undefined", () => new (ToolError as Untyped)()],
  ])("%s", (message, write) => {
    expect(() => write(makeServer().server)).toThrow(expect.objectContaining({ message }));
  });
});

test.each<[message: string, options: unknown]>([
  [
    "serveStdio: options must be an object such as { input, output }, not an instance of PassThrough",
    new PassThrough(),
  ],
  ["serveStdio: port is not an option: stdio has none; use serveHttp of halyard/node", { port: 3000 }],
])("%s", async (message, options) => {
  await expect(serveStdio(makeServer().server, options as Untyped)).rejects.toThrow(
    expect.objectContaining({ message }),
  );
});

test("serveStdio in a terminal says what starts the program", async () => {
  const logger = recordingLogger();
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const server = new McpServer(info, { logger });
  const stdio = await serveStdio(server, { input, output: new PassThrough() });
  expect(logger.entries.map(({ level, message }) => [level, message])).toEqual([
    [
      "warn",
      "serveStdio reads messages from a terminal: add this program to an MCP client, which starts it, or serve it with serveHttp",
    ],
  ]);
  await stdio.close();
});

describe("a request of a browser or an old client", () => {
  const endpoint =
    "This is an MCP endpoint: add this URL to an MCP client. Clients POST an initialize request to it, then send the Mcp-Session-Id header of the response";
  test.each<[path: string, accept: string, message: string]>([
    ["/mcp", "text/html", endpoint],
    ["/mcp", "text/html,application/xhtml+xml,*/*;q=0.8", endpoint],
    ["/mcp", "application/json", "Accept must allow text/event-stream"],
    [
      "/sse",
      "text/event-stream",
      "Not found: the MCP endpoint is at /mcp. Clients of HTTP+SSE need legacySse: true",
    ],
    [
      "/api",
      "text/event-stream",
      'Not found: the MCP endpoint is at /mcp. If you mount it at /api, pass path: "/api"',
    ],
  ])("GET %s, Accept %s: %s", async (path, accept, message) => {
    const handler = fetchHandler(new McpServer(info));
    onTestFinished(() => handler.close());
    const response = await handler(new Request(`http://localhost${path}`, { headers: { accept } }));
    expect(await response.json()).toMatchObject({ error: { message } });
  });
});

describe("a header is found in any case", () => {
  const seen: unknown[] = [];
  const options = {
    auth: (request: Untyped) => {
      seen.push(request.header("Authorization"), request.header("authorization"));
      return undefined;
    },
  };

  test("by fetchHandler", async () => {
    seen.length = 0;
    const handler = fetchHandler(new McpServer(info), options);
    onTestFinished(() => handler.close());
    await handler(new Request("http://localhost/mcp", { headers: { authorization: "Key a" } }));
    expect(seen).toEqual(["Key a", "Key a"]);
  });

  test("by nodeHandler", async () => {
    seen.length = 0;
    const handler = nodeHandler(new McpServer(info), options);
    const http = createServer(handler).listen(0, "127.0.0.1");
    onTestFinished(async () => {
      await handler.close();
      http.close();
    });
    await until(() => http.listening);
    const { port } = http.address() as AddressInfo;
    await fetch(`http://127.0.0.1:${port}/mcp`, { headers: { authorization: "Key a" } });
    expect(seen).toEqual(["Key a", "Key a"]);
  });
});

describe("a result that refers to itself", () => {
  function circular(fields: object = {}): Untyped {
    const made: Record<string, unknown> = { ...fields };
    made["a"] = made;
    return made;
  }
  const output = z.object({ a: z.any() });
  test.each<[name: string, problem: string, definition: object, returned: () => unknown]>([
    ["plain", "a refers to the result itself", {}, () => circular({ content: [] })],
    [
      "structured",
      "structuredContent.a refers to the result itself",
      {},
      () => ({ structuredContent: circular() }),
    ],
    [
      "beside text",
      "structuredContent.a refers to the result itself",
      {},
      () => ({ content: [text("a")], structuredContent: circular() }),
    ],
    [
      "with output",
      "structuredContent.a.a refers to an object that contains it",
      { output },
      () => circular(),
    ],
    [
      "unvalidated",
      "structuredContent.a refers to the result itself",
      { output, validateOutput: false },
      () => circular(),
    ],
    ["as a task", "a refers to the result itself", { task: "required" }, () => circular({ content: [] })],
  ])("%s", async (_, problem, definition, returned) => {
    const { server, log } = makeServer();
    server.tool("t", definition as Untyped, returned as Untyped);
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    const client = await open(newest, server, { capabilities: { extensions } });
    await call(client, "t").catch(() => {});
    await until(() => log.length > 0);
    expect(lastOf(log)).toBe(`Tool t returned an invalid result: ${problem}`);
  });
});

describe.each(eras)("a question after the call ($revision)", (cell) => {
  test.each<[message: string, ask: (ctx: Untyped) => Promise<unknown>]>([
    ["ctx.elicit: the call has ended", (ctx) => ctx.elicit("Sure?", z.object({ a: z.string() }))],
    ["ctx.sample: the call has ended", (ctx) => ctx.sample("Hello")],
    ["ctx.roots: the call has ended", (ctx) => ctx.roots()],
  ])("%s", async (message, ask) => {
    const { server, log } = makeServer();
    let late: Untyped;
    server.tool("t", {}, (_, ctx) => {
      late = ctx;
      return "ok";
    });
    const capabilities = { elicitation: {}, sampling: {}, roots: {} };
    await call(await open(cell, server, { capabilities }), "t");
    await expect(ask(late)).rejects.toThrow(expect.objectContaining({ message }));
    expect(log).toMatchObject([{ level: "warn", message, details: { method: "tools/call", name: "t" } }]);
  });
});

test("an argument of a tool without input is warned about once", async () => {
  const { server, log } = makeServer();
  server.tool("t", {}, run);
  const client = await open(newest, server);
  for (const args of [{}, { city: "Oslo" }, { city: "Rome" }]) await call(client, "t", args);
  expect(log.map(({ message }) => message)).toEqual([
    "Tool t has no input and does not get the argument city: add it to input if the handler reads it",
  ]);
});

describe("a mistake in a handler", () => {
  const returning = "return a string, content blocks, { content } or result({ … }), or set output";
  const invalid = "Tool t returned an invalid result: it is";
  test.each<[message: string, handler: (args: Untyped, ctx: Untyped) => unknown]>([
    [
      `${invalid} an instance of AsyncGenerator: collect what it yields, and ${returning}`,
      // oxlint-disable-next-line no-empty-function
      () => (async function* () {})(),
    ],
    [`${invalid} an instance of Response: await its text(), and ${returning}`, () => new Response("a")],
    [
      `${invalid} an instance of Buffer: pass bytes to image() or audio(), or convert them to text, and ${returning}`,
      () => Buffer.from("a"),
    ],
    [
      "tools/call threw undefined: throw an Error",
      () => {
        throw undefined;
      },
    ],
    [
      'ctx.elicit(message, schema): schema must be a schema, or the URL of a page, not "https://example.com": for a page pass new URL(text)',
      (_, ctx) => ctx.elicit("Go", "https://example.com"),
    ],
  ])("%s", async (message, handler) => {
    const { server, log } = makeServer();
    server.tool("t", {}, handler as Untyped);
    const client = await open(newest, server, { capabilities: { elicitation: { form: {}, url: {} } } });
    await call(client, "t").catch(() => {});
    expect(lastOf(log)).toBe(message);
  });

  test("the role of a message that is none is shown", async () => {
    const { server, log } = makeServer();
    server.prompt("p", {}, () => [{ role: "system", content: text("a") }] as Untyped);
    await refusal((await open(newest, server)).request("prompts/get", { name: "p" }));
    expect(lastOf(log)).toBe(
      'Prompt p returned an invalid result: messages[0].role must be "user" or "assistant", not "system"',
    );
  });
});
