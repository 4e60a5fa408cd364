// Further mistakes of a first day with a server: each row is what is written, and the whole text that is read.
import { McpServer, text } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler } from "halyard/node";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { call, makeServer, open } from "../support/catalogue.ts";
import type { LogEntry } from "../support/log.ts";
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
  ])("%s", (message, write) => {
    expect(() => write(makeServer().server)).toThrow(expect.objectContaining({ message }));
  });
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

describe("middleware that calls next() again", () => {
  const twice = "next() was called twice: call it again only if it has failed";

  test.each<[name: string, middleware: Untyped]>([
    ["after a result", async (_: unknown, __: unknown, next: Untyped) => (await next(), next())],
    ["at the same time", (_: unknown, __: unknown, next: Untyped) => (void next(), next())],
  ])("%s is refused, and the tool runs once", async (_, middleware) => {
    const { server, log } = makeServer();
    let runs = 0;
    server.use("tools/call", middleware).tool("t", {}, () => `${++runs}`);
    await call(await open(newest, server), "t").catch(() => {});
    expect(lastOf(log)).toBe(twice);
    expect(runs).toBe(1);
  });

  test.each<[name: string, failure: () => unknown]>([
    [
      "an exception",
      () => {
        throw new Error("No");
      },
    ],
    ["an error result", () => ({ content: [], isError: true })],
  ])("after %s retries", async (_, failure) => {
    const { server } = makeServer();
    let runs = 0;
    const retry = async (_request: unknown, _ctx: unknown, next: Untyped): Promise<Untyped> => {
      const first = await next().catch(() => undefined);
      return first && !first.isError ? first : next();
    };
    server.use("tools/call", retry).tool("t", {}, (() => (++runs === 1 ? failure() : "ok")) as Untyped);
    expect((await call(await open(newest, server), "t")).content).toEqual([text("ok")]);
  });
});
