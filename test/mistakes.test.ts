// Mistakes of newcomers, over the whole package: each row has the code and the whole error message.
import { gzipSync } from "node:zlib";
import { McpServer, text } from "halyard";
import { bearerAuth } from "halyard/auth";
import { connect, connectAll } from "halyard/client";
import { clientCredentials, oauth, workloadIdentity } from "halyard/client/oauth";
import { memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { backplaneContract, connect as connectToTest } from "halyard/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";

/** As JavaScript sees it: nothing has a type. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const run = (): string => "ok";
const asked = z.object({ name: z.string() });
const onElicit = () => ({ action: "accept", content: { name: "Ada" } }) as const;
const onSample = () => ({ role: "assistant", content: text("hi"), model: "m" }) as const;
const made = (): Untyped => {
  const server = new McpServer({ name: "weather", version: "1.0.0" }, { errors: "message" });
  server.tool("forecast", {}, run);
  return server;
};
const untyped = (value: unknown): Untyped => value;

/** Calls a tool with the handler, and throws what the model reads. */
const inTool = (handler: (args: Untyped, ctx: Untyped) => unknown) => async (): Promise<void> => {
  const server = made();
  server.tool("x", {}, handler);
  const client = await connect(server as McpServer, { onElicit, onSample });
  const { content } = await client.callTool("x");
  throw new Error((content[0] as { text: string }).text);
};
const inTemplate = (handler: Untyped) => async (): Promise<unknown> => {
  const server = made();
  server.resourceTemplate("note:///{name}", {}, handler);
  return (await connect(server as McpServer)).readResource("note:///a");
};
const client = (use: (client: Untyped) => unknown) => async () => use(await connect(made() as McpServer));
const clients = (use: (clients: Untyped) => unknown) => async () =>
  use(await connectAll({ weather: made() as McpServer }));
const task = (use: (task: Untyped) => unknown) => async () => {
  const server = made();
  server.tool("x", { task: "optional" }, run);
  const each = await connect(server as McpServer, { tasks: true });
  return use(await each.startTask("x"));
};
/** A call over HTTP, and the log of the server. */
const overHttp =
  (options: object, handler: (args: Untyped, ctx: Untyped) => unknown = run) =>
  async (): Promise<void> => {
    const log: string[] = [];
    // What the log says is enough: the client would wait and try again.
    const stop = new AbortController();
    const error = (message: string, details?: Untyped): void => {
      log.push(details?.error?.message ?? message);
      stop.abort();
    };
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error };
    const server = new McpServer({ name: "a", version: "1" }, { logger });
    server.tool("x", {}, handler as never);
    const mounted = fetchHandler(server, options);
    onTestFinished(() => mounted.close());
    const url = "http://localhost/mcp";
    const fetch = ((input: string, init?: RequestInit) =>
      mounted(new Request(input, init))) as typeof globalThis.fetch;
    const failure = await connect(url, { fetch, auth: "token", signal: stop.signal })
      .then((each) => each.callTool("x"))
      .catch((reason: unknown) => reason);
    throw new Error(log[0] ?? String(failure));
  };

const whole = { resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] };
const service = { issuer: "https://auth.example.com", clientId: "nightly", clientSecret: "secret" };
const claims = '{ sub, aud: "https://mcp.example.com/mcp", scope, exp }';
const usage = "a handler gets ({ uri, params }, ctx)";
const noSession = "must be a text that is not empty, not undefined: modern clients have no session";
const resourceUri = 'must be the URI of a resource, such as "note:///groceries"';
const options = "options must be an object";

const mistakes: Readonly<Record<string, readonly [write: () => unknown, read: string]>> = {
  "a token in place of the options": [
    () => connect("http://127.0.0.1:1/mcp", "sk-live-secret" as Untyped),
    `connect: ${options}`,
  ],
  "a template's handler that takes the variables": [
    inTemplate(({ name }: Untyped) => name.toUpperCase()),
    `args has no name: use args.params.name: ${usage}`,
  ],
  "a template's handler that takes a URL and the variables": [
    inTemplate((uri: Untyped, { name }: Untyped) => `${uri.href} ${name}`),
    `args has no href: use args.uri: ${usage}`,
  ],
  "ctx.log.info": [inTool((_, ctx) => ctx.log.info("a")), "ctx.log has no info(): use ctx.log(level, data)"],
  "ctx.info": [inTool((_, ctx) => ctx.info("a")), "ctx has no info(): use ctx.log(level, data)"],
  "ctx.req.headers": [inTool((_, ctx) => ctx.req.headers), "ctx has no req: use ctx.headers"],
  "ctx.headers.get": [
    overHttp({}, (_, ctx) => ctx.headers.get("x-a")),
    'ctx.headers has no get(): use ctx.headers["x-name"], in lower case',
  ],
  "ctx.startTask in a tool that is never a task": [
    inTool((_, ctx) => ctx.startTask()),
    'ctx.startTask(): tool "x" never runs as a task: set task: { starts: "handler" } in its definition',
  ],
  "ctx.notify with a message": [
    inTool((_, ctx) => ctx.notify({ method: "acme/x" })),
    "ctx.notify(method, params): method must be a text",
  ],
  "the action of an answer": [
    inTool(async (_, ctx) => (await ctx.elicit("Name?", asked)).action),
    "The answer has no action: use its fields, or ctx.tryElicit() for { action, content }",
  ],
  "the text of the content of a sample": [
    inTool(async (_, ctx) => (await ctx.sample("Hi")).content.text),
    "This content has no text: use text beside it",
  ],
  "middleware with the parameters of Koa": [
    () => made().use((_ctx: Untyped, next: Untyped) => next()),
    "server.use: handler takes (request, ctx, next), and not 2 parameters",
  ],
  "middleware for errors of Express": [
    () => made().use((_e: Untyped, _q: Untyped, _r: Untyped, next: Untyped) => next()),
    "server.use: handler takes (request, ctx, next), and not 4 parameters",
  ],
  "middleware of Express, for a client": [
    client((each) => each.use((_q: Untyped, _r: Untyped, next: Untyped) => next())),
    "use: middleware takes (request, next), and not 3 parameters",
  ],
  "middleware of Express as auth": [
    () => nodeHandler(made(), { auth: untyped((_q: Untyped, _r: Untyped, next: Untyped) => next()) }),
    "HTTP: auth must be bearerAuth({ … }) of halyard/auth, or a function that returns the caller's principal, not a function: it gets the request alone, and not 3 parameters",
  ],
  "headers of a request as an object": [
    overHttp({ auth: (request: Untyped) => request.headers.authorization }),
    "request.headers has no authorization: use request.header(name)",
  ],
  "headers of a request as Headers": [
    overHttp({ auth: (request: Untyped) => request.headers.get("authorization") }),
    "request.headers has no get(): use request.header(name)",
  ],
  "an extension without its identifier": [
    () => made().extension({ settings: {} }),
    "extension: identifier must be a text that is not empty",
  ],
  "a chain of registrations": [
    () => made().tool("a", {}, run).tool("b", {}, run),
    "The handle has no tool(): use the server: registrations cannot be chained",
  ],
  "handle.delete": [() => made().tool("a", {}, run).delete(), "The handle has no delete(): use remove()"],
  "a MIME type without a slash": [
    () => made().resource("note:///a", { mimeType: "json" }, run),
    'resource "note:///a": mimeType must be a MIME type, such as "text/plain", not "json"',
  ],
  "server.notify": [
    () => made().notify("notifications/acme/x"),
    "McpServer has no notify(): use server.push.broadcast(method, params), or ctx.notify(method, params) in a handler",
  ],
  "server.elicit": [
    () => made().elicit("Name?"),
    "McpServer has no elicit(): use ctx.elicit(message, schema) in a handler",
  ],
  "server.tools.add": [
    () => made().tools.add("x", {}, run),
    "server.tools has no add(): use server.tool(name, { description, input }, handler)",
  ],
  "server.resources.add": [
    () => made().resources.add("note:///a", {}, run),
    "server.resources has no add(): use server.resource(uri, { name, description }, handler)",
  ],
  "server.prompts.delete": [
    () => made().prompts.delete("x"),
    "server.prompts has no delete(): use remove(key)",
  ],
  "server.tools as a list": [
    () => made().tools.map(run),
    "server.tools has no map(): use keys(), and get(key) for one",
  ],
  "server.tools.listChanged": [
    () => made().tools.listChanged(),
    "server.tools has no listChanged(): use nothing: clients are notified of every change",
  ],
  "the list of the templates that has changed": [
    () => made().resourceTemplates.listChanged(),
    "server.resourceTemplates has no listChanged(): use server.resources.listChanged()",
  ],
  "server.push.send": [
    () => made().push.send("notifications/acme/x"),
    "server.push has no send(): use broadcast(method, params) or toSession(session, method, params)",
  ],
  "a message to broadcast": [
    () => made().push.broadcast({ method: "notifications/acme/x" }),
    "push.broadcast(method, params): method must be a text that begins with notifications/",
  ],
  "a function in a message to broadcast": [
    () => made().push.broadcast("notifications/acme/x", { at: { now: () => 1 } }),
    "push.broadcast(method, params): params.at.now is a function, which JSON cannot hold",
  ],
  "a push to the session of a modern client": [
    () => made().push.toSession(undefined, "notifications/acme/x"),
    `push.toSession: session ${noSession}`,
  ],
  "a request to the session of a modern client": [
    () => made().push.request(undefined, "roots/list"),
    `push.request: session ${noSession}`,
  ],
  "an update of a name": [
    async () => made().resources.updated("notes"),
    `server.resources.updated(uri): uri ${resourceUri}, not "notes"`,
  ],
  "an update of a template": [
    async () => made().resources.updated("note:///{name}"),
    "server.resources.updated(uri): note:///{name} is a template: fill in its variables",
  ],
  "a server as the options of a dashboard": [
    () => dashboard(made()),
    `dashboard: ${options}, not an instance of McpServer`,
  ],
  "a schema as the options of a call": [
    client((each) => each.callTool("forecast", {}, z.object({}))),
    `callTool: ${options}, not an instance of ZodObject`,
  ],
  "a function that serveHttp calls back": [
    () => (serveHttp as Untyped)(made(), { port: 0 }, run),
    "serveHttp(server, options) calls no function back: await it",
  ],
  "a server that is not awaited": [
    () => {
      const serving = untyped(serveHttp(made(), { port: 0 }));
      onTestFinished(async () => (await serving).close());
      return serving.url;
    },
    "The promise of serveHttp() has no url: use await serveHttp(…)",
  ],
  "a client that is not awaited": [
    () => untyped(connect(made())).callTool("forecast"),
    "The promise of connect() has no callTool: use await connect(…)",
  ],
  "the revision of a client that is not awaited": [
    () => untyped(connect(made())).revision,
    "The promise of connect() has no revision: use await connect(…)",
  ],
  "clients that are not awaited": [
    () => untyped(connectAll({ weather: made() })).tools(),
    "The promise of connectAll() has no tools: use await connectAll(…)",
  ],
  "a test client that is not awaited": [
    () => untyped(connectToTest(made())).callTool("forecast"),
    "The promise of connect() has no callTool: use await connect(…)",
  ],
  "the address of metadata as the issuer": [
    () =>
      bearerAuth({
        ...whole,
        authorizationServers: ["https://auth.example.com/.well-known/openid-configuration"],
      }),
    "bearerAuth: authorizationServers has an issuer that is the address of its metadata: pass https://auth.example.com",
  ],
  "a verify that says yes": [
    overHttp({ auth: bearerAuth({ ...whole, verify: () => untyped(true) }) }),
    `verify() returned true, so the token was refused: return claims such as ${claims}, with aud only if the token is for this server and exp in seconds`,
  ],
  "a verify that throws for an expired token": [
    overHttp({ auth: bearerAuth({ ...whole, verify: () => Promise.reject(new RangeError("expired")) }) }),
    "Cannot verify tokens right now: verify() threw a RangeError: return undefined for a token that is not valid",
  ],
  "client.tools": [client((each) => each.tools()), "McpClient has no tools(): use client.listTools()"],
  "client.call": [
    client((each) => each.call("forecast")),
    "McpClient has no call(): use client.callTool(name, args)",
  ],
  "client.disconnect": [
    client((each) => each.disconnect()),
    "McpClient has no disconnect(): use client.close()",
  ],
  "client.subscribe": [
    client((each) => each.subscribe("note:///a")),
    "McpClient has no subscribe(): use client.listen({ resources: [uri] }, onChange)",
  ],
  "client.once": [
    client((each) => each.once("state", run)),
    'McpClient has no once(): use client.on("state", callback), which returns what removes it',
  ],
  "a list of changes to listen for": [
    client((each) => each.listen("tools")),
    'listen: options must be an object such as { tools: true }, not "tools"',
  ],
  "one of several clients as a property": [
    clients((all) => all.weather),
    'McpClients has no weather: use client("weather")',
  ],
  "one of several clients by get": [
    clients((all) => all.get("weather")),
    "McpClients has no get(): use client(name)",
  ],
  "all clients": [
    clients((all) => all.clients),
    "McpClients has no clients: use client(name), or outcomes for all",
  ],
  "the tools of several servers as a list": [
    clients((all) => all.tools.map(run)),
    "tools has no map(): use (await servers.tools()).tools",
  ],
  "the token of connect": [
    () => connect("https://mcp.example.com/mcp", untyped({ token: "t" })),
    "connect: token is not an option: pass auth: the token, or headers",
  ],
  "the name of a client": [
    () => connect("https://mcp.example.com/mcp", untyped({ name: "me" })),
    "connect: name is not an option: pass info: { name, version }",
  ],
  "ctx.task of version 1": [
    inTool((_, ctx) => ctx.task.id),
    "ctx has no task: use ctx.progress(done, total, message), which sets the status of the task",
  ],
  "ctx.notify with a text": [
    inTool((_, ctx) => ctx.notify("acme/x", "hello")),
    'ctx.notify(method, params): params must be an object, not "hello"',
  ],
  "a page for a client that answers forms only": [
    async () => {
      const server = made();
      server.tool("x", {}, (_: Untyped, ctx: Untyped) => ctx.elicit("Go", new URL("https://example.com/")));
      return (await connect(server as McpServer, { onElicit: { form: onElicit } })).callTool("x");
    },
    "elicitation/create: the client did not declare elicitation.url: pass onElicit: { form, url } to connect",
  ],
  "a sample with tools for a client without them": [
    async () => {
      const server = made();
      const tools = [{ name: "a", inputSchema: { type: "object" } }];
      server.tool("x", {}, (_: Untyped, ctx: Untyped) => ctx.sample("Hi", { tools }));
      return (await connect(server as McpServer, { onSample })).callTool("x");
    },
    "sampling/createMessage: the client did not declare sampling.tools: pass onSample: { answer, tools: true } to connect",
  ],
  "a request as one object": [
    client((each) => each.request({ method: "tools/list" })),
    'request takes the method and the params apart: request("tools/list", params)',
  ],
  "a request of a test as one object": [
    async () => untyped(await connectToTest(made())).request({ method: "tools/list" }),
    'request takes the method and the params apart: request("tools/list", params)',
  ],
  "a notification as one object": [
    client((each) => each.notify({ method: "acme/news" })),
    'notify takes the method and the params apart: notify("acme/news", params)',
  ],
  "client.getTask": [
    client((each) => each.getTask("7")),
    "McpClient has no getTask(): use client.task(stored)",
  ],
  "the text of a result": [
    client(async (each) => (await each.callTool("forecast")).text),
    "The result of a tool has no text: use content[0].text, for a block of the type text",
  ],
  "an outcome as a property": [
    clients((all) => all.outcomes.weather),
    'outcomes has no weather: use outcomes.get("weather")',
  ],
  "a list as mcpServers": [
    () => connectAll(untyped({ mcpServers: [{ command: "node" }] })),
    "connectAll: targets must be an object of servers by name, such as mcpServers of .mcp.json: mcpServers is a list: give each server a name",
  ],
  "a host that is a variable": [
    () => connect("https://$MCP_HOST/mcp"),
    'connect: target is "https://$mcp_host/mcp", a variable that nothing has replaced: pass its value, such as process.env.MCP_HOST',
  ],
  "the id of the handle of a task": [
    task((each) => each.taskId),
    "The handle of a task has no taskId: use id",
  ],
  "the content of the handle of a task": [
    task((each) => each.content),
    "The handle of a task has no content: use await task.result(), which has it",
  ],
  "waiting for the handle of a task": [
    task((each) => each.wait()),
    "The handle of a task has no wait(): use result()",
  ],
  "a status without a function": [task((each) => each.onStatus({})), "onStatus: callback must be a function"],
  "short names of notifications in a test": [
    async () => (await connectToTest(made())).notifications("tools/list_changed"),
    'notifications: tools/list_changed is no notification: did you mean "notifications/tools/list_changed"?',
  ],
  "all notifications in a test": [
    async () => untyped(await connectToTest(made())).notifications(),
    "notifications: method must be a text that is not empty, not undefined",
  ],
  "a backplane for the contract": [
    () => untyped(backplaneContract)(memoryBackplane()),
    "backplaneContract() returns checks: pass what makes the backplane to run() of each",
  ],
  "the address of metadata as the issuer of a client": [
    () => clientCredentials({ ...service, issuer: `${service.issuer}/.well-known/openid-configuration` }),
    'clientCredentials: issuer must be the text of a URL, or "announced": leave out /.well-known/ and what follows',
  ],
  "the path of a JWT": [
    () => workloadIdentity({ issuer: service.issuer, assertion: "/var/run/secrets/tokens/mcp" }),
    'workloadIdentity: assertion must be a JWT, or a function that returns one: to read a file, pass () => readFile(path, "utf8")',
  ],
  "a token for oauth": [
    () => oauth(untyped({ token: "t" })),
    "oauth: token is not an option: pass the token itself as auth of connect()",
  ],
  "the type of a grant for oauth": [
    () => oauth(untyped({ grantType: "client_credentials" })),
    "oauth: grantType is not an option: use clientCredentials(), enterpriseManaged() or workloadIdentity()",
  ],
  "signing out of a name": [
    () => oauth().signOut("weather"),
    "signOut: server must be the URL that you passed to connect()",
  ],
  "the content of a file for connect": [
    () => connect(untyped({ mcpServers: {} })),
    "connect: target is the content of a file with mcpServers: pass it to connectAll()",
  ],
};

test.each(Object.entries(mistakes))("%s", async (_, [write, read]) => {
  const quiet = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => quiet.mockRestore());
  const error = await (async () => write())().catch((reason: unknown) => reason);
  expect((error as Error).message).toBe(read);
});

test("a compressed body is a 415 that says so", async () => {
  const handler = fetchHandler(made());
  onTestFinished(() => handler.close());
  const body = gzipSync(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }));
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-encoding": "gzip",
  };
  const reply = await handler(new Request("http://localhost/mcp", { method: "POST", body, headers }));
  expect(reply.status).toBe(415);
  expect(await reply.json()).toMatchObject({
    error: { message: "Content-Encoding is gzip: do not compress" },
  });
});

test("ctx.headers has each header in any case, and only those of the request", async () => {
  const server = made();
  server.tool("x", {}, (_: Untyped, { headers }: Untyped) =>
    JSON.stringify([headers["X-Tenant"], headers["x-tenant"], headers["X-Other"], Object.keys(headers)]),
  );
  const handler = fetchHandler(server as McpServer);
  onTestFinished(() => handler.close());
  const fetch = ((input: string, init?: RequestInit) =>
    handler(new Request(input, init))) as typeof globalThis.fetch;
  const each = await connect("http://localhost/mcp", { fetch, headers: { "X-Tenant": "acme" } });
  const { content } = await each.callTool("x");
  const [capital, lower, other, names] = JSON.parse((content[0] as { text: string }).text) as Untyped;
  expect([capital, lower, other]).toEqual(["acme", "acme", null]);
  expect(names).toContain("x-tenant");
  expect(names).not.toContain("X-Tenant");
});

test("a session that another process has says what the processes need", async () => {
  const handlers = [fetchHandler(made()), fetchHandler(made())] as const;
  onTestFinished(async () => void (await Promise.all(handlers.map((each) => each.close()))));
  let sent = 0;
  const fetch = ((input: string, init?: RequestInit) =>
    handlers[sent++ % 2]?.(new Request(input, init))) as typeof globalThis.fetch;
  const revision = "2025-06-18";
  const connecting = connect("http://localhost/mcp", { fetch, revision }).then((each) =>
    each.callTool("forecast"),
  );
  await expect(connecting).rejects.toThrow(
    "http://localhost/mcp no longer knows the session (404): it restarted, several servers share this address without a common backplane, name and prefix, or its code calls fetchHandler() or nodeHandler() for each request: call it once",
  );
});

test("the names of other packages change no answer, and forms may have them", async () => {
  const server = made();
  const form = z.object({ action: z.string().optional(), name: z.string() });
  server.tool("x", {}, async (_: Untyped, ctx: Untyped) => {
    const own = await ctx.elicit("A?", form);
    const plain = await ctx.elicit("B?", asked);
    return JSON.stringify([own.action ?? "none", plain, { ...plain }, Object.keys(plain)]);
  });
  const { content } = await (await connect(server as McpServer, { onElicit })).callTool("x");
  expect(content).toEqual([text('["none",{"name":"Ada"},{"name":"Ada"},["name"]]')]);
});
