// The mistakes of those who bring a server from another SDK: each message says what to write instead.
import { image, inputRequired, McpServer, result, text } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { call, makeServer, open, refusal } from "../support/catalogue.ts";
import type { LogEntry } from "../support/log.ts";
import { type Cell, cells } from "../support/matrix.ts";
import { allowBeyondSchema } from "../support/schemas/witness.ts";

/** As JavaScript sees it: nothing has a type. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const [newest] = cells({ transports: ["memory"] }) as [Cell];
const info = { name: "test", version: "1.0.0" };
/** The `_meta` of a modern request that wants log messages. */
const wanted = { "io.modelcontextprotocol/logLevel": "debug" };
const run = (): string => "";

/** The message of the last exception in the log. */
function lastOf(log: readonly LogEntry[]): unknown {
  return (log.at(-1)?.details?.["error"] as Error | undefined)?.message;
}

/** What the official SDK passes for a template. */
class ResourceTemplate {
  readonly _uriTemplate = { template: "note:///{name}" };
  readonly _callbacks = { list: undefined };
}

describe("a mistake in a definition", () => {
  test.each<[message: string, write: (server: Untyped) => unknown]>([
    [
      'resource "notes": _uriTemplate belongs to a ResourceTemplate: call server.resourceTemplate(uriTemplate, { list, complete }, handler)',
      (server) => server.resource("notes", new ResourceTemplate(), {}, run),
    ],
    [
      'server: info must be an object with a name and a version, not "weather"',
      () => new (McpServer as Untyped)("weather", "1.0.0"),
    ],
    [
      "server: instructions belongs in the second argument: new McpServer(info, { instructions })",
      () => new McpServer({ ...info, instructions: "Ask first" } as Untyped),
    ],
    [
      "server: authenticate belongs to the transport: serveHttp(server, { auth })",
      () => new McpServer({ ...info, authenticate: run } as Untyped),
    ],
    [
      "server: port belongs to the transport: serveHttp(server, { port })",
      () => new McpServer(info, { port: 3000 } as Untyped),
    ],
    [
      'resource template "note:///{name}": complete names "nam", which is not a variable of the template: did you mean name?',
      (server) => server.resourceTemplate("note:///{name}", { complete: { nam: () => [] } }, run),
    ],
    [
      'prompt "p": complete names "who", which is not an argument of the prompt: it has none',
      (server) => server.prompt("p", { complete: { who: () => [] } }, run),
    ],
    ["server.use: handler must be a function", (server) => server.use({})],
    [
      'server.use: method is "tools/cal", which the protocol does not have: did you mean tools/call?',
      (server) => server.use("tools/cal", run),
    ],
    [
      'server.use: method is "notifications/initialized": call server.onNotification(handler) for notifications',
      (server) => server.use("notifications/initialized", run),
    ],
    [
      'server.use: method is "tool/call", which the protocol does not have: did you mean tools/call?',
      (server) => server.use("tool/call", run),
    ],
    [
      'server.use: method is "resource/read", which the protocol does not have: did you mean resources/read?',
      (server) => server.use("resource/read", run),
    ],
    [
      'server.use: method is "call", which cannot be a method: did you mean tools/call?',
      (server) => server.use("call", run),
    ],
    [
      'server.use: method is "*", which cannot be a method: for all requests, call server.use(handler)',
      (server) => server.use("*", run),
    ],
    [
      'server.use: method is "/mcp", which cannot be a method: for all requests, call server.use(handler)',
      (server) => server.use("/mcp", run),
    ],
    [
      'tool "t": annotations.readonlyHint is not an option: did you mean readOnlyHint?',
      (server) => server.tool("t", { annotations: { readonlyHint: true } }, run),
    ],
    [
      'tool "t": readOnlyHint belongs in annotations',
      (server) => server.tool("t", { readOnlyHint: true }, run),
    ],
    [
      "server: logger must be an object with debug, info, warn and error, such as console, not a function",
      () => new McpServer(info, { logger: run } as Untyped),
    ],
    ["server.completion: handler must be a function", (server) => server.completion({})],
    [
      'server.onNotification: handler must be a function, not "notifications/x"',
      (server) => server.onNotification("notifications/x", run),
    ],
    ["server.onInitialized: handler must be a function, not undefined", (server) => server.onInitialized()],
    ["server.onRootsChanged: handler must be a function, not null", (server) => server.onRootsChanged(null)],
    ["server.onSessionClosed: handler must be a function, not 5", (server) => server.onSessionClosed(5)],
    [
      'server.resources.updated(uri): uri must be the URI of a resource, such as "note:///groceries"',
      (server) => server.resources.updated({ uri: "note:///a" }),
    ],
    [
      "server.resources.updated(uri): note:///{id} is a template: fill in its variables",
      (server) => server.resources.updated("note:///{id}"),
    ],
  ])("%s", (message, write) => {
    expect(() => write(makeServer().server)).toThrow(expect.objectContaining({ message }));
  });

  test("middleware for a method of one's own may come before the method", () => {
    expect(() => makeServer().server.use("acme/search" as Untyped, run as Untyped)).not.toThrow();
  });

  test("middleware for a method that the server does not have is warned about, once", async () => {
    const { server, log } = makeServer();
    server.tool("x", {}, run);
    server.method("acme/search", {}, () => ({}));
    for (const method of ["acme/search", "acme/serch", "tools/call"])
      server.use(method as "tools/call", (_, __, next) => next());
    const client = await open(newest, server);
    await call(client, "x");
    await call(client, "x");
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ["warn", 'server.use: the server has no method "acme/serch": its middleware never runs'],
    ]);
  });
});

const output = z.object({ rows: z.number() });
const returning = "return a string, content blocks, { content } or result({ … }), or set output";

describe("a mistake in a result", () => {
  test.each<[problem: string, returned: () => unknown, definition?: object]>([
    ["content must be an array of content blocks, not a string", () => ({ content: "Hello" })],
    ['content[0] must be a content block, such as text("Hello"), not a string', () => ["a", "b"]],
    [
      'content[0].type must be one of text, image, audio, resource_link, resource, not "txt"',
      () => [{ type: "txt", text: "a" }],
    ],
    [
      "content[0].data is bytes: use image() or audio(), or encode them as base64",
      () => [{ type: "image", data: new Uint8Array(2), mimeType: "image/png" }],
    ],
    [
      "content[0].data is bytes: use image() or audio(), or encode them as base64",
      () => image(new ArrayBuffer(2) as Untyped, "image/png"),
    ],
    [
      "content[0].text must be of type string, not an instance of Buffer",
      () => text(Buffer.from("a") as Untyped),
    ],
    [
      "structuredContent is a Map, which JSON has not: send an object or a list",
      () => ({ structuredContent: new Map() }),
    ],
    [
      "structuredContent.tags is a Set, which JSON has not: send an object or a list",
      () => ({ content: [text("a")], structuredContent: { tags: new Set() } }),
    ],
    [
      "structuredContent.rows[0].id is a bigint, which JSON has not: send a number or a string",
      () => result({ structured: { rows: [{ id: 1n }] } }),
    ],
    [
      "structuredContent.why is an Error, which JSON writes without its message: send its message",
      () => ({ structuredContent: { why: new TypeError("No") } }),
    ],
    ["content[0].data is not base64: pass the bytes", () => image("chart.png", "image/png")],
    [
      "content[0].data is a data: URL: drop everything up to the comma",
      () => image("data:image/png;base64,AA==", "image/png"),
    ],
    ["content[0].data is not base64: pass the bytes", () => image("image/png", "AAAA")],
    ['content[0].mimeType must be like image/png, not "png"', () => image("AAAA", "png")],
    [
      "content[0].resource.blob is not base64: pass the bytes",
      () => [{ type: "resource", resource: { uri: "a:b", blob: "%%%" } }],
    ],
    [`it is an instance of Generator: ${returning}`, () => (function* () {})()],
    [`it is an instance of Response: await its text(), and ${returning}`, () => new Response("a")],
    [`it is an instance of Error: throw it, or ${returning}`, () => new Error("No")],
    [`it is an empty object: ${returning}`, () => ({})],
    ["it is a Map, which JSON has not: send an object or a list", () => new Map()],
  ])("%s", async (problem, returned) => {
    const { server, log } = makeServer();
    server.tool("x", {}, returned as Untyped);
    expect((await refusal(call(await open(newest, server), "x"))).code).toBe(-32603);
    expect(lastOf(log)).toBe(`Tool x returned an invalid result: ${problem}`);
  });

  test("a result without the value of its output is told how to have it", async () => {
    const { server, log } = makeServer();
    server.tool("x", { output }, () => ({ content: [text("3 rows")] }));
    await refusal(call(await open(newest, server), "x"));
    expect(lastOf(log)).toBe(
      "Tool x returned a value that does not match its output schema: structuredContent is missing: add it, or return the value alone",
    );
  });

  test("an object that writes itself as JSON may hold anything", async () => {
    const { server } = makeServer();
    const money = { cents: 5n, toJSON: () => "0.05" };
    server.tool("x", {}, () => ({ content: [], structuredContent: { money, at: new Date(0) } }));
    expect((await call(await open(newest, server), "x")).content).toEqual([
      text('{"money":"0.05","at":"1970-01-01T00:00:00.000Z"}'),
    ]);
  });
});

describe("a mistake in a handler", () => {
  const use = "ctx.notify(method, params), ctx.progress(done, total) or ctx.log(level, data)";
  test.each<[message: string, handler: (args: Untyped, ctx: Untyped) => unknown]>([
    [`ctx has no sendNotification(): use ${use}`, (_, extra) => extra.sendNotification({ method: "x" })],
    [
      "ctx has no reportProgress(): use ctx.progress(done, total, message)",
      (_, { reportProgress }) => reportProgress({ progress: 1 }),
    ],
    [
      "ctx has no sendRequest(): use ctx.elicit(), ctx.sample(), ctx.roots() or ctx.ask(method, params)",
      (_, extra) => extra.sendRequest({}),
    ],
    ["ctx has no requestInfo: use ctx.headers", (_, extra) => extra.requestInfo?.headers],
    ["ctx has no authInfo: use ctx.principal", (_, extra) => extra.authInfo?.clientId],
    ["ctx has no sessionId: use ctx.session", (_, extra) => extra.sessionId ?? "default"],
    [
      "ctx has no mcpReq: use ctx itself: ctx.signal, ctx.id, ctx.log(), ctx.elicit()",
      (_, ctx) => ctx.mcpReq.log("info", "x"),
    ],
    ["args has no signal: use ctx, the second parameter of the handler", (extra) => extra.signal.aborted],
    [
      "ctx.elicit(message, schema): message must be a text",
      (_, ctx) => ctx.elicit({ message: "Sure?", requestedSchema: {} }),
    ],
    [
      "ctx.sample(messages, options): messages must be a text or a list of messages: pass the list itself: ctx.sample(messages, { maxTokens })",
      (_, ctx) => ctx.sample({ messages: [], maxTokens: 5 }),
    ],
    [
      "ctx.progress(progress, total, message): progress must be a number",
      (_, ctx) => ctx.progress({ progress: 1, total: 2 }),
    ],
    [
      'ctx.progress(progress, total, message): total must be a number, not "half way"',
      (_, ctx) => ctx.progress(1, "half way"),
    ],
    [
      "ctx.progress(progress, total, message): message must be a text, not 5",
      (_, ctx) => ctx.progress(1, 2, 5),
    ],
    [
      "ctx.once(key, work): key must be a text that is not empty, not a function",
      (_, ctx) => ctx.once(() => 1),
    ],
    ["ctx.once(key, work): work must be a function, not undefined", (_, ctx) => ctx.once("key")],
  ])("%s", async (message, handler) => {
    const { server, log } = makeServer({ errors: "message" });
    server.tool("x", {}, handler as Untyped);
    server.prompt("x", {}, handler as Untyped);
    const client = await open(newest, server, { capabilities: { elicitation: {}, sampling: {} } });
    expect(await call(client, "x")).toMatchObject({ content: [text(message)], isError: true });
    expect((await refusal(client.request("prompts/get", { name: "x" }))).message).toBe(message);
    expect(log).toHaveLength(2);
    expect(lastOf(log)).toBe(message);
  });

  test("a question without a method is told which there are", async () => {
    const { server, log } = makeServer();
    server.tool("x", {}, () => inputRequired({ inputRequests: { a: { message: "Sure?" } as Untyped } }));
    await refusal(call(await open(newest, server), "x"));
    expect(lastOf(log)).toBe(
      "The method of an input request must be elicitation/create or sampling/createMessage or roots/list, not undefined",
    );
  });

  test("a log message of an unknown level is warned about, in a call and outside", async () => {
    const { server, log } = makeServer();
    server.tool("x", {}, (_, ctx) => ctx.log("warn" as Untyped, "x"));
    await call(await open(newest, server), "x");
    expect(await server.log("warn" as Untyped, "x")).toBe(0);
    const rule = "level must be one of debug, info, notice, warning, error, critical, alert, emergency";
    expect(log.map(({ message }) => message)).toEqual([
      `ctx.log: ${rule}, not "warn"`,
      `server.log: ${rule}, not "warn"`,
    ]);
  });
});

describe("a mistake that is only warned about", () => {
  const sure = z.object({ sure: z.boolean() });
  const wasOpen = "was open: await it";
  test.each<[message: string, handler: (args: Untyped, ctx: Untyped) => unknown]>([
    [
      "ctx.log: data is a Map, which JSON has not: send an object or a list",
      (_, ctx) => ctx.log("error", new Map()),
    ],
    [
      "ctx.log: data.why is an Error, which JSON writes without its message: send its message",
      (_, ctx) => ctx.log("error", { why: new Error("disk full") }),
    ],
    ["ctx.progress: progress is NaN, and is not sent", (_, ctx) => ctx.progress(Number.NaN)],
    [`Tool x returned while ctx.elicit("Sure?") ${wasOpen}`, (_, ctx) => void ctx.elicit("Sure?", sure)],
    [
      `Tool x returned while ctx.tryElicit("Sure?") ${wasOpen}`,
      async (_, ctx) => void ctx.tryElicit("Sure?", sure),
    ],
    [`Tool x returned while ctx.sample() ${wasOpen}`, (_, ctx) => void ctx.sample("Why?")],
    [`Tool x returned while ctx.roots() ${wasOpen}`, (_, ctx) => void ctx.roots()],
  ])("%s", async (message, handler) => {
    for (const cell of cells({ transports: ["memory"] })) {
      const { server, log } = makeServer();
      server.tool("x", {}, handler as Untyped);
      const capabilities = { elicitation: {}, sampling: {}, roots: {} };
      const client = await open(cell, server, { capabilities });
      if (/elicit/i.test(message) && cell.revision < "2025-06-18") continue;
      await client.request("tools/call", { name: "x", _meta: wanted });
      expect(log.filter(({ level }) => level === "warn").map((entry) => entry.message)).toEqual([message]);
    }
  });

  test("a question that is awaited, refused or answered is not", async () => {
    const { server, log } = makeServer();
    server.tool("x", {}, (_, ctx) => ctx.elicit("Sure?", sure).then(() => "yes"));
    server.tool("y", {}, (_, ctx) => ctx.roots().then(run, run));
    const client = await open(newest, server, { capabilities: { elicitation: {} } });
    await call(client, "x");
    await call(client, "y");
    expect(log).toEqual([]);
  });
});

describe("a mistake of a completer", () => {
  const rule = "return a list of strings or { values, total, hasMore }";
  test.each<[problem: string, returned: unknown]>([
    ["values[0], an object with label", [{ label: "Paris" }]],
    ["values[1], a number", { values: ["a", 5] }],
    ["a string", "Paris"],
    ["an instance of Set", new Set(["Paris"])],
    ["an object with completion", { completion: { values: [] } }],
  ])("%s", async (problem, returned) => {
    const { server, log } = makeServer();
    server.prompt(
      "p",
      { arguments: z.object({ city: z.string() }), complete: { city: () => returned as never } },
      run,
    );
    const client = await open(newest, server);
    const argument = { name: "city", value: "P" };
    const asked = client.request("completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument });
    expect((await refusal(asked)).code).toBe(-32603);
    expect(lastOf(log)).toBe(`complete.city of prompt "p" returned ${problem}: ${rule}`);
  });
});

describe("a mistake in a push", () => {
  const level = "level must be one of debug, info, notice, warning, error, critical, alert, emergency";
  test.each<[message: string, send: (push: Untyped) => Promise<unknown>]>([
    [
      'push.broadcast(method, params): params must be an object, not "str"',
      (push) => push.broadcast("notifications/acme/x", "str"),
    ],
    [
      'push.broadcast(method, params): method must be a text that begins with notifications/, not "hello"',
      (push) => push.broadcast("hello"),
    ],
    [
      `push.toSession(session, method, params): ${level}, not "warn"`,
      (push) => push.toSession("a", "notifications/message", { level: "warn", data: "x" }),
    ],
    [
      "push.publish(notification, key, params): params must be an object, not 5",
      (push) => push.publish("notifications/tools/list_changed", undefined, 5),
    ],
  ])("%s", async (message, send) => {
    await expect(send(makeServer().server.push)).rejects.toThrow(
      expect.objectContaining({ name: "TypeError", message }),
    );
  });
});

describe("what newcomers write that works", () => {
  test("a handler may take its context apart", async () => {
    allowBeyondSchema("acme/x");
    const { server } = makeServer();
    const asked = z.object({ sure: z.boolean() });
    server.tool("x", {}, async (_, { log, progress, notify, once, tryElicit, roots, session, signal }) => {
      log("info", "x");
      progress(1, 2);
      await notify("acme/x");
      const kept = await once("kept", () => 5);
      const failed = await Promise.allSettled([tryElicit("Sure?", asked), roots()]);
      return `${kept} ${failed.map(({ status }) => status)} ${session} ${signal.aborted}`;
    });
    const answer = await call(await open(newest, server), "x");
    expect(answer.content).toEqual([text("5 rejected,rejected undefined false")]);
  });

  test("an Error in a log message is sent as its name and message", async () => {
    const { server } = makeServer();
    server.tool("x", {}, (_, ctx) => ctx.log("error", new TypeError("disk full")));
    const client = await open(newest, server);
    await client.request("tools/call", { name: "x", _meta: wanted });
    expect(client.notifications("notifications/message")).toMatchObject([
      { params: { data: { name: "TypeError", message: "disk full" } } },
    ]);
  });

  test("middleware may add the names of another SDK, and replace none of ctx", async () => {
    const { server } = makeServer({ errors: "message" });
    const ported = server.use<{ sessionId: string }>((_, __, next) => next({ sessionId: "mine" }));
    ported.tool("x", {}, (_, { sessionId }) => sessionId);
    expect((await call(await open(newest, ported), "x")).content).toEqual([text("mine")]);
    const other = makeServer({ errors: "message" }).server.use((_, __, next) => next({ log: 1 }));
    other.tool("x", {}, run);
    expect((await refusal(call(await open(newest, other), "x"))).message).toBe(
      "Middleware cannot replace ctx.log: choose another name",
    );
  });

  test("the arguments of a handler without a schema are an empty object", async () => {
    const { server } = makeServer();
    const given: unknown[] = [];
    server.tool("x", {}, (args) => void given.push(args));
    await call(await open(newest, server), "x", { more: 1 });
    expect(given).toStrictEqual([{}]);
    expect(Object.keys(given[0] as object)).toEqual([]);
  });
});
