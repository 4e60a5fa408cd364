// Mistakes of a first hour with the HTTP mounts: each row has the code and the whole error message.
import { createServer } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import express from "express";
import { McpServer } from "halyard";
import { bearerAuth, developmentIssuer } from "halyard/auth";
import { memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { redisBackplane } from "halyard/redis";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";

const server = (): McpServer => new McpServer({ name: "test", version: "1.0.0" });
/** As JavaScript passes it. */
const any = (value: unknown): never => value as never;
const serve = (options: unknown) => (): Promise<unknown> => serveHttp(server(), any(options));
const mount = (options: unknown) => (): unknown => nodeHandler(server(), any(options));

const portKind = "must be a whole number from 0 to 65535, where 0 is any free port";
const hostKind = 'must be an address such as "127.0.0.1" without a scheme or a port, or a list of them';
const authKind =
  "must be bearerAuth({ … }) of halyard/auth, or a function that returns the caller's principal";
const dashboardKind = 'must be what dashboard() returns, which you import from "halyard/dashboard"';
const tls =
  "Halyard serves plain HTTP: put a proxy with TLS in front, or pass nodeHandler(server) to createServer({ cert, key }, handler) of node:https";
const pathKind = 'must be the path of a URL, such as "/mcp"';
const router = ": patterns of routers do not work: make one handler for each path";
const originsKind =
  'must be a list of origins such as "https://app.example.com", without a path or a slash at the end, or "*"';
const whole = { resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] };
const redisKind =
  "must be a client: createClient({ url }) or createCluster() of redis 5 or later, or new Redis(url) or new Redis.Cluster() of ioredis";

const atStart: readonly [name: string, write: () => unknown, read: string][] = [
  ["hostname", serve({ hostname: "127.0.0.1" }), "HTTP: hostname is not an option: did you mean host?"],
  ["address", serve({ address: "127.0.0.1" }), "HTTP: address is not an option: did you mean host?"],
  ["endpoint", serve({ endpoint: "/mcp" }), "HTTP: endpoint is not an option: did you mean path?"],
  ["url", mount({ url: "/mcp" }), "HTTP: url is not an option: did you mean path?"],
  ["keepAlive", mount({ keepAlive: 5 }), "HTTP: keepAlive is not an option: did you mean keepAliveMs?"],
  ["healthCheck", serve({ healthCheck: true }), "HTTP: healthCheck is not an option: did you mean health?"],
  [
    "a mistyped limit",
    mount({ limits: { maxSesions: 1 } }),
    "HTTP: limits.maxSesions is not an option: did you mean maxSessions?",
  ],
  [
    "a limit of the server",
    mount({ limits: { maxBytes: 1 } }),
    "HTTP: limits.maxBytes belongs to the server: pass it to new McpServer(info, options)",
  ],
  [
    "logger",
    serve({ logger: console }),
    "HTTP: logger belongs to the server: pass it to new McpServer(info, options)",
  ],
  [
    "backplane",
    serve({ backplane: memoryBackplane() }),
    "HTTP: backplane belongs to the server: pass it to new McpServer(info, options)",
  ],
  [
    "port of a mount",
    mount({ port: 3000 }),
    "HTTP: port is not an option: your own server listens, so set it there; only serveHttp has it",
  ],
  [
    "hostname of a mount",
    mount({ hostname: "::" }),
    "HTTP: hostname is not an option: your own server listens, so set it there; only serveHttp has it",
  ],
  ["cert", serve({ cert: "x", key: "y" }), `HTTP: cert is not an option: ${tls}`],
  ["https", serve({ https: true }), `HTTP: https is not an option: ${tls}`],
  [
    "stateless",
    serve({ stateless: true }),
    'HTTP: stateless is not an option: pass mode: "stateless" to new McpServer()',
  ],
  [
    "sessionIdGenerator",
    serve({ sessionIdGenerator: undefined }),
    'HTTP: sessionIdGenerator is not an option: leave it out; for no sessions, pass mode: "stateless" to new McpServer()',
  ],
  [
    "enableJsonResponse",
    serve({ enableJsonResponse: true }),
    "HTTP: enableJsonResponse is not an option: leave it out; a reply is JSON unless the handler sends something before it",
  ],
  [
    "eventStore",
    serve({ eventStore: {} }),
    "HTTP: eventStore is not an option: leave it out; to resume streams in another process, pass backplane to new McpServer()",
  ],
  [
    "apiKey",
    serve({ apiKey: "k" }),
    "HTTP: apiKey is not an option: pass auth: a function that returns the principal of a caller, or bearerAuth({ … }) of halyard/auth",
  ],
  [
    "a port instead of options",
    serve(3000),
    "HTTP: options must be an object such as { port: 3000 }, not 3000",
  ],
  ["port 80000", serve({ port: 80_000 }), `HTTP: port ${portKind}, not 80000`],
  ["port -1", serve({ port: -1 }), `HTTP: port ${portKind}, not -1`],
  ["port as text", serve({ port: "3000" }), `HTTP: port ${portKind}, not "3000": convert it with Number()`],
  [
    "port of no variable",
    serve({ port: Number(undefined) }),
    `HTTP: port ${portKind}, not NaN: what it was made from is not a number`,
  ],
  ["port as another text", serve({ port: "http" }), `HTTP: port ${portKind}, not "http"`],
  [
    "a host with a scheme",
    serve({ host: "http://localhost" }),
    `HTTP: host ${hostKind}, not "http://localhost"`,
  ],
  ["a host with a port", serve({ host: "127.0.0.1:3000" }), `HTTP: host ${hostKind}, not "127.0.0.1:3000"`],
  ["no hosts", serve({ host: [] }), `HTTP: host ${hostKind}, not []`],
  [
    "every address",
    serve({ host: "0.0.0.0" }),
    'serveHttp: allowedHosts is missing: other machines may reach 0.0.0.0, so list the hosts that clients use, such as ["mcp.example.com"]',
  ],
  [
    "an app instead of a server",
    () => serveHttp(any(express()), { port: 0 }),
    "HTTP: server listens itself: pass the McpServer here, or mount nodeHandler(server) in it",
  ],
  [
    "a request instead of a server, since the handler is made for each request",
    () => nodeHandler(any({ method: "POST", url: "/mcp", headers: {} })),
    "HTTP: server is a request: call nodeHandler(server) or fetchHandler(server) once, and mount what it returns",
  ],
  [
    "a server of HTTP as an option",
    serve({ server: createServer() }),
    "HTTP: server is not an option: nodeHandler(server) is a listener for a server of your own",
  ],
  [
    "a path of a router",
    mount({ path: "/:tenant/mcp" }),
    `HTTP: path ${pathKind}, not "/:tenant/mcp"${router}`,
  ],
  ["a path with braces", mount({ path: "/{tenant}" }), `HTTP: path ${pathKind}, not "/{tenant}"${router}`],
  ["a path of Next.js", mount({ path: "/[x]/mcp" }), `HTTP: path ${pathKind}, not "/[x]/mcp"${router}`],
  ["a path with a star", mount({ path: "/mcp/*" }), `HTTP: path ${pathKind}, not "/mcp/*"${router}`],
  ["dashboard: true", serve({ dashboard: true }), `HTTP: dashboard ${dashboardKind}, not true`],
  [
    "dashboard that is not called",
    serve({ dashboard }),
    `HTTP: dashboard ${dashboardKind}, not a function: call it, and pass what it returns`,
  ],
  [
    "cors: true",
    mount({ cors: true }),
    'HTTP: cors must be an object such as { origins: ["https://app.example.com"] }, not true',
  ],
  [
    "an origin with a slash",
    mount({ cors: { origins: ["https://app.example/"] } }),
    `HTTP: cors.origins ${originsKind}, not ["https://app.example/"]`,
  ],
  [
    "one origin",
    mount({ allowedOrigins: "https://app.example" }),
    `HTTP: allowedOrigins ${originsKind}, not "https://app.example": put it into a list`,
  ],
  [
    "one host",
    mount({ allowedHosts: "a.example" }),
    'HTTP: allowedHosts must be a list of hosts such as "mcp.example.com", without a scheme or a path, not "a.example": put it into a list',
  ],
  [
    "rateLimit: 100",
    mount({ rateLimit: 100 }),
    "HTTP: rateLimit must be false, or an object such as { perAddress: { perMinute: 600 } }, not 100",
  ],
  ["auth as text, which may be a secret", mount({ auth: "my-secret" }), `HTTP: auth ${authKind}`],
  [
    "auth that is a promise",
    mount({ auth: Promise.resolve() }),
    `HTTP: auth ${authKind}, not a promise: await it`,
  ],
  [
    "bearerAuth that is not called",
    mount({ auth: bearerAuth }),
    `HTTP: auth ${authKind}, not a function: call it, and pass what it returns`,
  ],
  [
    "a development issuer",
    mount({ auth: developmentIssuer() }),
    `HTTP: auth ${authKind}: pass its member auth`,
  ],
  [
    "a request instead of a server",
    () => nodeHandler(any({ headers: {} }), any({ _events: {} })),
    "HTTP: server must be an McpServer of halyard",
  ],
  [
    "bearerAuth without options",
    () => bearerAuth(any(undefined)),
    'bearerAuth: options must be an object such as { resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] }, not undefined',
  ],
  [
    "issuer",
    () => bearerAuth(any({ issuer: "https://auth.example.com" })),
    "bearerAuth: issuer is not an option: did you mean authorizationServers, which is a list of issuers?",
  ],
  [
    "secret",
    () => bearerAuth(any({ ...whole, secret: "s" })),
    "bearerAuth: secret is not an option: for tokens that are signed with a shared secret, pass verify",
  ],
  [
    "scopes",
    () => bearerAuth(any({ ...whole, scopes: [] })),
    "bearerAuth: scopes is not an option: did you mean requiredScopes?",
  ],
  [
    "clientSecret",
    () => bearerAuth(any({ ...whole, clientSecret: "s" })),
    "bearerAuth: clientSecret is not an option: pass introspection: { clientId, clientSecret }",
  ],
  [
    "one authorization server",
    () => bearerAuth(any({ ...whole, authorizationServers: "https://auth.example.com" })),
    'bearerAuth: authorizationServers must be a list of texts, not "https://auth.example.com": put it into a list',
  ],
  [
    "sub",
    () => developmentIssuer().token(any({ sub: "a" })),
    "token() of developmentIssuer: sub is not an option: did you mean subject?",
  ],
  [
    "expiresIn",
    () => developmentIssuer().token(any({ expiresIn: "1h" })),
    "token() of developmentIssuer: expiresIn is not an option: did you mean expiresInSeconds?",
  ],
  [
    "a host of the dashboard",
    () => dashboard(any({ host: "0.0.0.0" })),
    "dashboard: host is not an option: it listens on 127.0.0.1 only; for other machines, mount its nodeHandler or fetchHandler with a token",
  ],
  [
    "its password",
    () => dashboard(any({ password: "x" })),
    "dashboard: password is not an option: did you mean token?",
  ],
  [
    "its port as text",
    () => dashboard(any({ port: "4000" })),
    `dashboard: port ${portKind}, not "4000": convert it with Number()`,
  ],
  [
    "a mounted dashboard without a token",
    mount({ dashboard: dashboard() }),
    "dashboard: token is missing: other machines may reach what you mount, so pass dashboard({ token }) with at least 16 characters that only you know",
  ],
  [
    "the URL of Redis",
    () => redisBackplane(any("redis://:secret@localhost")),
    `redisBackplane: client ${redisKind}`,
  ],
  [
    "a client of Redis that is not awaited",
    () => redisBackplane(any(Promise.resolve({}))),
    `redisBackplane: client ${redisKind}, not a promise: await it`,
  ],
  [
    "a backplane that is not called",
    () => new McpServer({ name: "a", version: "1" }, any({ backplane: memoryBackplane })),
    "server: backplane must be redisBackplane(client) or natsBackplane(connection), not a function: call it, and pass what it returns",
  ],
];

test.each(atStart)("%s throws at once, and says what to do", async (_, write, message) => {
  const attempt = async (): Promise<unknown> => write();
  await expect(attempt()).rejects.toThrow(expect.objectContaining({ name: "ConfigurationError", message }));
});

describe("credentials that auth does not know", () => {
  const users = new Map([["Bearer right", { issuer: "test", subject: "alice" }]]);

  test.each([
    ["a wrong key is refused", { authorization: "Bearer wrong" }, 401],
    ["the right one is not", { authorization: "Bearer right" }, 200],
    ["nor is an anonymous caller", {}, 200],
  ])("%s", async (_, credentials, status) => {
    const handler = fetchHandler(server(), {
      auth: (request) => users.get(request.header("authorization") ?? ""),
    });
    onTestFinished(() => handler.close());
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...credentials,
    };
    const initialize = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } },
    });
    const reply = await handler(
      new Request("http://localhost/mcp", { method: "POST", headers, body: initialize }),
    );
    expect(reply.status).toBe(status);
    if (status !== 401) return;
    expect(reply.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    expect(await reply.json()).toMatchObject({
      error: { message: "The credentials in the Authorization header were not recognised" },
    });
  });
});

describe("a port or host that cannot be opened", () => {
  afterEach(() => void vi.restoreAllMocks());

  /** The error of a system that does not allow it. */
  function failWith(code: string): void {
    vi.spyOn(NetServer.prototype, "listen").mockImplementation(function (this: NetServer) {
      queueMicrotask(() => this.emit("error", Object.assign(new Error(`listen ${code}`), { code })));
      return this;
    });
  }

  test.each([
    [
      "EACCES",
      "Port 80 on 127.0.0.1 needs rights that this process lacks: pass a port from 1024, such as 3000, and put a proxy in front",
    ],
    [
      "ENOTFOUND",
      'The host 127.0.0.1 cannot be resolved: pass an address of this machine, such as "127.0.0.1"',
    ],
    ["EMFILE", "Cannot listen on 127.0.0.1:80: listen EMFILE"],
  ])("%s names it and the remedy", async (code, message) => {
    failWith(code);
    await expect(serveHttp(server(), { port: 80 })).rejects.toMatchObject({ code: "CANNOT_LISTEN", message });
  });

  test("an address of another machine, a name that is none, and a port in use are named", async () => {
    const open = { allowedHosts: ["mcp.example.com"], port: 0 };
    await expect(serveHttp(server(), { ...open, host: "203.0.113.1" })).rejects.toThrow(
      'The host 203.0.113.1 is not an address of this machine: pass "127.0.0.1", or "0.0.0.0" for all its addresses',
    );
    await expect(serveHttp(server(), { ...open, host: "no-such-host.invalid" })).rejects.toThrow(
      'The host no-such-host.invalid cannot be resolved: pass an address of this machine, such as "127.0.0.1"',
    );
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    onTestFinished(() => void other.close());
    await expect(serveHttp(server(), { port })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use: stop the other process, or pass another port`,
    );
  });
});

describe("a handler that is given something else", () => {
  const node =
    "This handler takes the request and the response of node:http: in Fastify, pass request.raw and reply.raw; for web-standard requests, as in Hono, use fetchHandler";
  const web =
    "This handler takes a web-standard Request: in Hono, pass context.req.raw; for requests of node:http, as in Express or Fastify, use nodeHandler";

  test.each<[string, () => unknown, string]>([
    [
      "nodeHandler, a Request",
      () => nodeHandler(server())(any(new Request("http://localhost/mcp")), any(undefined)),
      node,
    ],
    [
      "nodeHandler, objects of a framework",
      () => nodeHandler(server())(any({ raw: {} }), any({ raw: {} })),
      node,
    ],
    ["fetchHandler, a context", () => fetchHandler(server())(any({ req: {} })), web],
    [
      "fetchHandler, a request of node:http",
      () => fetchHandler(server())(any({ url: "/mcp", headers: {} })),
      web,
    ],
    [
      "nodeHandler of a dashboard",
      () => dashboard({ token: "0123456789abcdef" }).nodeHandler(any({}), any({})),
      node,
    ],
  ])("%s, says what it takes", async (_, call, message) => {
    const attempt = async (): Promise<unknown> => call();
    await expect(attempt()).rejects.toThrow(expect.objectContaining({ name: "TypeError", message }));
  });
});
