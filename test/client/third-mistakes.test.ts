// Mistakes that are easy to make with a client, its configuration and its tests, and the whole text that the user reads.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { McpServer } from "halyard";
import { connect, connectAll, McpClient } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { backplaneContract, connect as connectTest, replay } from "halyard/testing";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { newestLegacy } from "../support/revisions.ts";
import { until } from "../support/turns.ts";

const server = new McpServer({ name: "weather", version: "1.0.0" });
server.tool("any", { input: z.looseObject({}) }, () => "Done");
server.tool("ask", {}, async (_, ctx) => {
  await ctx.elicit("Sure?", z.object({ sure: z.boolean() }));
  return "Asked";
});
server.tool("roots", {}, async (_, ctx) => JSON.stringify(await ctx.roots()));

const templates = new McpServer({ name: "templates", version: "1.0.0" });
templates.resourceTemplate("note:///{name}", {}, () => "A note");

const folder = mkdtempSync(join(tmpdir(), "halyard-mistakes-"));
writeFileSync(join(folder, "empty.js"), "");
afterAll(() => rmSync(folder, { recursive: true }));

const url = "https://mcp.example.com/mcp";
const circle: Record<string, unknown> = {};
circle["self"] = { circle };

const to = (target: unknown, options?: object) => () => connect(target as string, options);
const call = (args: unknown) => async () => (await connect(server)).callTool("any", args as never);
const unfit = (what: string) => `callTool("any"): arguments.${what}, which JSON cannot hold`;
const recording = 'replay takes lines: replay(readFileSync(path, "utf8").split("\\n"))';

const notAbsolute =
  "uri must be an absolute URI (RFC 3986): encode spaces, and give the variables of a template values";
const ownFetch = "is not an option: pass fetch: a function that goes that way";

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

/** As JavaScript sees a client. */
type Untyped = { readonly [method in "callTool" | "on" | "complete"]: (...given: unknown[]) => unknown };

/** As that of another package is made. */
type Made = new (...given: unknown[]) => McpClient;

const mistakes: Readonly<Record<string, readonly [make: () => unknown, says: string]>> = {
  "a Map as an argument": [call({ m: new Map([[1, 2]]) }), unfit("m is a Map")],
  "a Set in a list": [call({ list: [1, new Set()] }), unfit("list[1] is a Set")],
  "bytes as an argument": [call({ bytes: new Uint8Array(2) }), unfit("bytes is a Uint8Array")],
  "a promise as an argument": [call({ p: Promise.resolve(1) }), unfit("p is a Promise")],
  "a function as an argument": [call({ a: { f: () => 1 } }), unfit("a.f is a function")],
  "a symbol as an argument": [call({ s: Symbol("s") }), unfit("s is a symbol")],
  "NaN as an argument": [call({ n: Number.NaN }), unfit("n is NaN")],
  "Infinity as an argument": [call({ n: -Infinity }), unfit("n is -Infinity")],
  "a bigint as an argument": [call({ n: 1n }), unfit("n is a bigint")],
  "a circle as an argument": [call(circle), unfit("self.circle is circular")],
  "a Map as the parameters of a request": [
    async () => (await connect(server)).request("tools/call", { name: "any", arguments: new Map() } as never),
    'request("tools/call"): params.arguments is a Map, which JSON cannot hold',
  ],
  "a function in a notification": [
    async () => (await connect(server)).notify("acme/news", { f: () => 1 } as never),
    'notify("acme/news"): params.f is a function, which JSON cannot hold',
  ],
  "the path of a recording": [() => replay("session.jsonl"), recording],
  "the parsed lines of a recording": [() => replay([{ direction: "sent" }] as never), recording],
  "the method to wait for": [
    async () => (await connectTest(server)).waitFor("notifications/x" as never),
    'waitFor: matches must be a function, not "notifications/x"',
  ],
  "a variable that is not set": [
    to({ command: "node", env: { KEY: undefined } }),
    "connect: env must be a plain object of names and texts: KEY is undefined: set it, or leave it out",
  ],
  "a number as a variable": [
    to({ command: "node", env: { A: "1", KEY: 5 } }),
    "connect: env must be a plain object of names and texts: KEY is of the type number: write a text",
  ],
  "a header that is not set": [
    to(url, { headers: { "X-Key": undefined } }),
    "connect: headers must be a plain object of names and texts: X-Key is undefined: set it, or leave it out",
  ],
  "a client without connect": [
    () => new (McpClient as Made)({ name: "me", version: "1.0.0" }),
    "McpClient is made by connect(): const client = await connect(target)",
  ],
  "a client without anything": [
    () => new (McpClient as Made)(),
    "McpClient is made by connect(): const client = await connect(target)",
  ],
  "a WebSocket": [
    to("wss://mcp.example.com/mcp"),
    'connect: target is "wss://mcp.example.com/mcp", and WebSocket is not a transport of MCP: use http(s)',
  ],
  "an empty URL": [to(""), "connect: target is empty: pass the URL of the server"],
  "a program that says nothing": [
    to({ command: "sleep", args: ["100"] }, { connectTimeoutMs: 200 }),
    "Connecting to sleep 100: no response after 200 ms: raise connectTimeoutMs if it needs longer; it sent no message: is it an MCP server on stdio?",
  ],
  "the home folder in an argument": [
    to({ command: process.execPath, args: ["~/server.js"], cwd: folder }),
    expect.stringContaining(
      `${process.execPath} (in ${folder}) exited with code 1 before it sent a message: nothing replaces ~ and variables in args: pass the values`,
    ) as string,
  ],
  "a script that does not serve": [
    to({ command: process.execPath, args: ["empty.js"], cwd: folder }),
    `${process.execPath} (in ${folder}) exited with code 0 before it sent a message: does empty.js call serveStdio()?`,
  ],
  "a program that ends": [
    to({ command: "true", cwd: folder }),
    `true (in ${folder}) exited with code 0 before it sent a message: is it an MCP server on stdio?`,
  ],
  "an endpoint of something else": [
    to(url, { fetch: async () => Response.json({ hello: "world" }) }),
    "server/discover: The text is too short for a JSON-RPC message, from https://mcp.example.com/mcp: is it an MCP endpoint?",
  ],
  "a question without a handler": [
    async () => (await connect(server)).callTool("ask"),
    "elicitation/create: the client did not declare elicitation: pass onElicit to connect",
  ],
  "a token with a line break": [
    to(url, { auth: "secret\n" }),
    "client: auth gives authorization a value with characters that HTTP does not allow: trim() it",
  ],
  "a file as the folder": [
    to({ command: "node", cwd: join(folder, "empty.js") }),
    `Cannot start node in ${join(folder, "empty.js")}: it is not a folder: correct cwd`,
  ],
  "a list taken for a result": [
    async () => ((await (await connect(server)).listTools()) as never)["tools"],
    "The list of listTools() has no tools: use the list itself: const tools = await client.listTools()",
  ],
  "a list of templates taken for a result": [
    async () =>
      ((await (await connectTest(templates)).listResourceTemplates()) as never)["resourceTemplates"],
    "The list of listResourceTemplates() has no resourceTemplates: use the list itself: const resourceTemplates = await client.listResourceTemplates()",
  ],
  "the cursor of a list": [
    async () => ((await (await connectTest(server)).listTools()) as never)["nextCursor"],
    'The list of listTools() has no nextCursor: use client.page("tools"), which has one; the list has all pages',
  ],
  "the length of what eachTool() returns": [
    async () => ((await connect(server)).eachTool() as never)["length"],
    "What client.eachTool() returns has no length: use for await (const one of client.eachTool()), or await client.listTools()",
  ],
  "a schema of the result": [
    async () =>
      ((await connect(server)) as unknown as Untyped).callTool("any", {}, undefined, { timeoutMs: 5 }),
    "callTool takes (name, args, options): there is no schema of the result",
  ],
  "an event without a callback": [
    async () => ((await connect(server)) as unknown as Untyped).on("state"),
    "on: callback must be a function, not undefined",
  ],
  "an AbortController as the signal": [
    async () => (await connect(server)).callTool("any", {}, { signal: new AbortController() as never }),
    "callTool: signal must be an AbortSignal, not an instance of AbortController: pass its signal",
  ],
  "a completion by names": [
    async () => ((await connect(server)) as unknown as Untyped).complete("greet", "city", "O"),
    'complete takes a reference: complete({ type: "ref/prompt", name: "greet" }, { name, value })',
  ],
  "a template as a URI": [async () => (await connect(templates)).readResource("note:///{name}"), notAbsolute],
  "a space in a URI": [async () => (await connect(templates)).readResource("note:///a b"), notAbsolute],
  "a notification without its prefix": [
    async () => (await connect(server)).notify("roots/list_changed"),
    'notify: roots/list_changed is no notification: did you mean "notifications/roots/list_changed"?',
  ],
  "the type of a transport": [
    to({ type: "stdio", command: "node" }),
    "connect: type is not an option: leave it out; a command is always a server on stdio",
  ],
  "a name of a command": [
    to({ name: "files", command: "node" }),
    "connect: name is not an option: leave it out; connectAll({ files: { command, args } }) has names",
  ],
  "a shell for a command": [
    to({ command: "node", shell: true }),
    'connect: shell is not an option: pass { command: "sh", args: ["-c", "…"] }',
  ],
  "a proxy": [to(url, { proxy: "http://127.0.0.1:8080" }), `connect: proxy ${ownFetch}`],
  "an agent": [to(url, { agent: {} }), `connect: agent ${ownFetch}`],
  "a transport": [
    to(url, { transport: "sse" }),
    "connect: transport is not an option: leave it out; the target decides it",
  ],
  "a port that there is not": [
    to("http://127.0.0.1:99999/mcp"),
    'connect: target is "http://127.0.0.1:99999/mcp", which is not a URL: check the host, and the port, which is 65535 at most',
  ],
  "a variable that nothing has replaced": [
    to("${MCP_URL}"),
    'connect: target is "${MCP_URL}", a variable that nothing has replaced: pass its value, such as process.env.MCP_URL',
  ],
  "a URL in quotes": [
    to('"https://mcp.example.com/mcp"'),
    'connect: target is "\\"https://mcp.example.com/mcp\\"": remove the quotes',
  ],
  "another scheme": [
    to("mcp://127.0.0.1:3000"),
    'connect: target is "mcp://127.0.0.1:3000", and mcp is not a transport of MCP: use http(s)',
  ],
  "an address where nothing listens, in a short time": [
    to(url, { connectTimeoutMs: 100, fetch: () => Promise.reject(refused) }),
    "Could not reach https://mcp.example.com/mcp: nothing listens at mcp.example.com: start the server, or check host and port (ECONNREFUSED)",
  ],
  "a word as a target": [to("weather"), 'connect: target is "weather", which is not an http(s) URL'],
  "a path with spaces that does not exist": [
    to({ command: "./no such/program.exe", cwd: folder }),
    `Cannot start ./no such/program.exe in ${folder}: ${join(folder, "no such/program.exe")} does not exist`,
  ],
  "a line for a shell": [
    to({ command: "cd .. && node server.js", cwd: folder }),
    `Cannot start cd .. && node server.js in ${folder}: it needs a shell: pass { command: "sh", args: ["-c", "…"] }, or cwd instead of cd`,
  ],
  "a pipe": [
    to({ command: "node server.js | tee log", cwd: folder }),
    `Cannot start node server.js | tee log in ${folder}: it needs a shell: pass { command: "sh", args: ["-c", "…"] }, or cwd instead of cd`,
  ],
  "a time to wait in an object": [
    async () => (await connectTest(server)).waitFor(() => false, { timeoutMs: 300 } as never),
    "waitFor: timeoutMs must be a whole number of milliseconds from 1 to 2147483647",
  ],
  "a URL for a test": [
    () => connectTest(url as never),
    'connect: server must be an McpServer of halyard, not "https://mcp.example.com/mcp": to reach a server elsewhere, use connect of halyard/client',
  ],
  "a command for a test": [
    () => connectTest({ command: "node" } as never),
    "connect: server must be an McpServer of halyard: to reach a server elsewhere, use connect of halyard/client",
  ],
  "a backplane for a check": [
    async () => backplaneContract()[0]?.run(memoryBackplane() as never),
    "run takes a function that makes what it checks: run(() => memoryBackplane())",
  ],
  "the id of a task": [
    async () => (await connect(server)).task({ id: "7" } as never),
    "task takes what toJSON() of a task returned, with its tool: pass task.toJSON()",
  ],
};

test.each(Object.entries(mistakes))("%s", async (_, [make, says]) => {
  const error = await (async () => make())().catch((reason: unknown) => reason);
  expect((error as Error).message).toEqual(says);
});

test("arguments that JSON can hold are sent as they are", async () => {
  const client = await connect(server);
  onTestFinished(() => client.close());
  const shared = { a: 1 };
  const args = {
    at: new Date(0),
    left: undefined,
    one: shared,
    two: [shared, null, true],
    url: new URL(url),
  };
  expect((await client.callTool("any", args as never)).isError).toBeUndefined();
});

test("roots that are no roots, from a function", async () => {
  const errors: unknown[] = [];
  const client = await connect(server, {
    revision: newestLegacy,
    roots: () => ["/home/ada"] as never,
    observe: (event) => event.type === "question" && errors.push(event.error),
  });
  onTestFinished(() => client.close());
  await client.callTool("roots");
  expect(errors.map(String)).toEqual([
    'TypeError: roots returned an answer that cannot be sent: must be a list such as [{ uri: "file:///home/ada" }], not ["/home/ada"]',
  ]);
});

describe("what is ignored is told", () => {
  function spy(): string[] {
    const said: string[] = [];
    const warn = vi.spyOn(console, "warn").mockImplementation((text: string) => void said.push(text));
    onTestFinished(() => warn.mockRestore());
    return said;
  }

  test("options of HTTP for a server that is not reached by it", async () => {
    const said = spy();
    const client = await connect(server, { auth: "secret", headers: { "X-Key": "secret" } });
    onTestFinished(() => client.close());
    expect(said).toEqual([
      "connect: auth is for HTTP, which this target does not use: ignored",
      "connect: headers is for HTTP, which this target does not use: ignored",
    ]);
    const seen: unknown[] = [];
    const other = await connect(server, { auth: "secret", observe: (event) => seen.push(event) });
    onTestFinished(() => other.close());
    expect(seen).toContainEqual({ type: "ignored", reason: said[0] });
    expect(said).toHaveLength(2);
  });

  test("but not options that several servers share", async () => {
    const said = spy();
    const clients = await connectAll({ weather: server }, { auth: "secret", headers: { "X-Key": "secret" } });
    onTestFinished(() => clients.close());
    expect(said).toEqual([]);
    const own = await connectAll({ weather: server }, { servers: { weather: { auth: "secret" } } });
    onTestFinished(() => own.close());
    expect(said).toEqual(["connect: auth is for HTTP, which this target does not use: ignored"]);
  });

  test("the servers of a file that has mcpServers too", async () => {
    const said = spy();
    const clients = await connectAll({ mcpServers: { one: server }, servers: { two: server } } as never);
    onTestFinished(() => clients.close());
    expect([...clients.outcomes.keys()]).toEqual(["one"]);
    expect(said).toEqual(['connectAll: "two" is in servers, and the file has mcpServers too: ignored']);
  });

  test("an entry that is not enabled is not started", async () => {
    const said = spy();
    const seen: unknown[] = [];
    const entries = {
      off: { command: "no-such-command", enabled: false },
      on: { command: "no-such-command", enabled: true },
    };
    const clients = await connectAll(entries, { observe: (event) => seen.push(event) });
    onTestFinished(() => clients.close());
    expect([...clients.outcomes.keys()]).toEqual(["on"]);
    expect(seen).toContainEqual({
      type: "ignored",
      reason: 'connectAll: "off".enabled is false: not connected',
      server: "off",
    });
    expect(JSON.stringify(seen)).not.toContain("is not a field");
    expect(said).toEqual([]);
  });

  test("what functions of the user throw, once each", async () => {
    const said = spy();
    const live = new McpServer({ name: "live", version: "1.0.0" });
    live.tool("one", {}, () => "1");
    live.tool("log", {}, (_, ctx) => {
      ctx.log("info", "a");
      ctx.log("info", "b");
      return "Logged";
    });
    const failing = (name: string) => (): never => {
      throw new Error(`in ${name}`);
    };
    const client = await connect(live, { record: failing("record"), onLog: failing("onLog") });
    onTestFinished(() => client.close());
    await client.callTool("log");
    await client.listen({ tools: true }, failing("onChange"));
    live.tool("two", {}, () => "2");
    await until(() => said.some((text) => text.startsWith("onChange")));
    live.tool("three", {}, () => "3");
    await client.callTool("one");
    expect(said.toSorted()).toEqual([
      "onChange failed: Error: in onChange",
      "onLog threw: Error: in onLog",
      "record threw: Error: in record",
    ]);
  });
});

test("with fake timers calls are answered, and changes arrive when the test moves the clock", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const live = new McpServer({ name: "live", version: "1.0.0" });
  live.tool("one", {}, () => "1");
  const client = await connectTest(live, { revision: newestLegacy });
  onTestFinished(() => client.close());
  expect((await client.callTool("one")).content).toEqual([{ type: "text", text: "1" }]);
  live.tool("two", {}, () => "2");
  await vi.advanceTimersByTimeAsync(1000);
  expect(client.notifications("notifications/tools/list_changed")).toHaveLength(1);
});
