// How a client finds out over HTTP which era a server speaks: every row of the table, and what the client sends because of it.
import { createServer, type AddressInfo } from "node:net";
import {
  AuthRequired,
  CallTimeout,
  type ClientEvent,
  connect,
  type ConnectOptions,
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  type McpClient,
  NoCommonRevision,
  RpcRejection,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { metaKeys, newestLegacy, newestModern } from "../../support/revisions.ts";
import {
  type HttpScript,
  type OnRequest,
  type Posted,
  respond,
  serveScript,
} from "../../support/scripted-http.ts";

const quick = { firstMs: 2 };
const discovered = { resultType: "complete", supportedVersions: [newestModern], capabilities: { tools: {} } };
const initialized = {
  protocolVersion: newestLegacy,
  capabilities: {},
  serverInfo: { name: "old", version: "1.0.0" },
};

const error = (code: number, data?: object): { error: object } => ({
  error: { code, message: "Refused", data },
});

/** A server that answers the probe like this, and `initialize` like a legacy server, unless the test says otherwise. */
function answering(probe: OnRequest, initialize?: OnRequest): OnRequest {
  return (request, reply) => {
    const { method } = request.message;
    if (method === "server/discover") return probe(request, reply);
    if (request.verb !== "POST") return { status: 405 };
    if (method === "initialize")
      return initialize?.(request, reply) ?? respond(request.message, { result: initialized });
    return { status: 202 };
  };
}

async function open(url: string, options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(url, { backoff: quick, ...options });
  onTestFinished(() => client.close());
  return client;
}

function failing(url: string, options: ConnectOptions = {}): Promise<unknown> {
  return open(url, options).then(
    () => "connected",
    (reason: unknown) => reason,
  );
}

/** A port that was free a moment ago. */
function unusedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

const at =
  (status: number, body: string | object = "", headers: Record<string, string> = {}) =>
  (): HttpScript => ({ status, body, headers });
const rejected =
  (status: number, code: number, data?: object) =>
  ({ message }: Posted): HttpScript => ({ ...respond(message, error(code, data)), status });

describe("the server is modern", () => {
  test("a result with a common version: the client speaks it without another request [VER-DISCOVER-PICK, VER-DISCOVER-PARAMS, HTTP26-ERA-PROBE]", async () => {
    const server = await serveScript(answering(({ message }) => respond(message, { result: discovered })));
    const client = await open(server.url);
    expect(client.revision).toBe(newestModern);
    expect(client.capabilities).toEqual({ tools: {} });
    expect(server.seen()).toEqual(["server/discover"]);
    const [{ headers, message }] = server.received as [Posted];
    expect(Object.keys(message.params ?? {})).toEqual(["_meta"]);
    expect(message.params?.["_meta"]).toMatchObject({
      [metaKeys.protocolVersion]: newestModern,
      [metaKeys.clientCapabilities]: {},
      [metaKeys.clientInfo]: { name: "halyard-client" },
    });
    expect(headers).toMatchObject({ "mcp-protocol-version": newestModern, "mcp-method": "server/discover" });
  });

  test("-32022 with a common version: one more try, with that version [VER-UNSUPPORTED-CLIENT-RETRY, VER-ERA-RECOGNIZED-ERROR, HTTP26-ERA-INSPECT-400, BASE-ERR-MCP-RANGE-MEANING]", async () => {
    let probes = 0;
    const refusal = rejected(400, -32022, {
      supported: ["2099-01-01", newestModern],
      requested: newestModern,
    });
    const server = await serveScript(
      answering((request) =>
        ++probes === 1 ? refusal(request) : respond(request.message, { result: discovered }),
      ),
    );
    const client = await open(server.url);
    expect(client.revision).toBe(newestModern);
    expect(server.seen()).toEqual(["server/discover", "server/discover"]);
  });

  test("-32022 with a common version, again and again: an error after the second", async () => {
    const server = await serveScript(answering(rejected(400, -32022, { supported: [newestModern] })));
    expect(await failing(server.url)).toBeInstanceOf(NoCommonRevision);
    expect(server.seen()).toEqual(["server/discover", "server/discover"]);
  });

  test("-32022 with versions that the client does not know: an error that lists both sides, and no initialize [VER-UNSUPPORTED-CLIENT-RETRY, VER-ERA-RECOGNIZED-ERROR]", async () => {
    const server = await serveScript(answering(rejected(400, -32022, { supported: ["2099-01-01"] })));
    const failure = await failing(server.url);
    expect(failure).toBeInstanceOf(NoCommonRevision);
    expect(failure).toMatchObject({ theirs: ["2099-01-01"], code: "NO_COMMON_REVISION" });
    expect((failure as NoCommonRevision).ours).toContain(newestModern);
    expect((failure as Error).message).toContain("2099-01-01");
    expect((failure as Error).message).toContain(newestModern);
    expect(server.seen()).toEqual(["server/discover"]);
  });

  test("initialize meets -32022 of a remembered legacy server: the client probes once more", async () => {
    const server = await serveScript(
      answering(
        ({ message }) => respond(message, { result: discovered }),
        rejected(400, -32022, { supported: [newestModern] }),
      ),
    );
    const remembered = { revision: newestLegacy, capabilities: {}, at: Date.now() };
    const client = await open(server.url, { remembered });
    expect(client.revision).toBe(newestModern);
    expect(server.seen()).toEqual(["initialize", "server/discover"]);
  });
});

describe("the server is legacy [VER-ERA-ANYTHING-ELSE, HTTP26-ERA-INSPECT-400]", () => {
  test.each<[what: string, probe: OnRequest]>([
    ["404 with -32601", rejected(404, -32601)],
    ["200 with -32601", rejected(200, -32601)],
    ["400 with -32600", rejected(400, -32600)],
    ["400 with -32602", rejected(400, -32602)],
    ["400 with -32000 and the id null", at(400, { jsonrpc: "2.0", id: null, ...error(-32000) })],
    ["400 with plain text", at(400, "Bad Request: Missing session ID")],
    ["400 without a body", at(400)],
    ["404 with a page", at(404, "<h1>Not found</h1>", { "content-type": "text/html" })],
    ["405", at(405)],
    ["406", at(406, "Not acceptable")],
    ["415", at(415)],
    ["400 with JSON that is not a message", at(400, { detail: "no session" })],
    ["-32022 that lists only legacy versions", rejected(400, -32022, { supported: [newestLegacy] })],
    [
      "a result that lists only legacy versions",
      ({ message }) => respond(message, { result: { ...discovered, supportedVersions: [newestLegacy] } }),
    ],
  ])("%s", async (_, probe) => {
    const server = await serveScript(answering(probe));
    const client = await open(server.url);
    expect(client.revision).toBe(newestLegacy);
    expect(server.seen().slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    // The handshake carries nothing of the modern era.
    const { headers, message } = server.received[1] as Posted;
    expect(headers["mcp-protocol-version"]).not.toBe(newestModern);
    expect(headers).not.toHaveProperty("mcp-method");
    expect(message.params).not.toHaveProperty("_meta");
  });
});

describe("no evidence of an era: the client tries initialize, and reports the first error if that fails too", () => {
  test.each<[what: string, probe: OnRequest, kind: abstract new (...args: never) => Error, shape: object]>([
    ["-32001", rejected(400, -32001), RpcRejection, { code: -32001 }],
    ["-32020", rejected(400, -32020), RpcRejection, { code: -32020 }],
    ["-32021", rejected(400, -32021), RpcRejection, { code: -32021 }],
    ["-32022 without versions", rejected(400, -32022), RpcRejection, { code: -32022 }],
  ])("%s", async (_, probe, kind, shape) => {
    const legacy = await serveScript(answering(probe));
    expect((await open(legacy.url)).revision).toBe(newestLegacy);

    const neither = await serveScript(answering(probe, rejected(200, -32603)));
    const failure = await failing(neither.url);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject(shape);
    expect(neither.seen()).toEqual(["server/discover", "initialize"]);
  });

  test("a browser that does not say why a request failed, which is reported", async () => {
    vi.stubGlobal("location", { origin: "https://app.example" });
    onTestFinished(() => void vi.unstubAllGlobals());
    const server = await serveScript(answering(at(500)));
    const events: ClientEvent[] = [];
    const opaque: typeof fetch = async (input, init) => {
      if (String(init?.body).includes("server/discover")) throw new TypeError("Failed to fetch");
      return fetch(input, init);
    };
    const client = await open(server.url, { fetch: opaque, observe: (event) => void events.push(event) });
    expect(client.revision).toBe(newestLegacy);
    expect(events).toContainEqual({
      type: "ignored",
      reason: expect.stringContaining("Access-Control-Allow-Origin"),
    });

    const down: typeof fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const failure = await failing(server.url, { fetch: down });
    expect(failure).toBeInstanceOf(ConnectionLost);
  });
});

describe("an error, never an era", () => {
  test.each([401, 403])("%i: the client needs credentials", async (status) => {
    const challenge = 'Bearer resource_metadata="https://example.com/meta"';
    const server = await serveScript(answering(at(status, "", { "www-authenticate": challenge })));
    const failure = await failing(server.url);
    expect(failure).toBeInstanceOf(AuthRequired);
    expect(failure).toMatchObject({ status, challenge });
    expect(server.seen()).not.toContain("initialize");
  });

  test.each<[what: string, probe: OnRequest, kind: abstract new (...args: never) => Error]>([
    ["500", at(500, "boom"), HttpFailure],
    ["501", at(501), HttpFailure],
    ["200 with a page", at(200, "<h1>Hello</h1>", { "content-type": "text/html" }), HttpFailure],
    ["200 with JSON that is not a message", at(200, { hello: 1 }), InvalidResponse],
    ["200 without supportedVersions", ({ message }) => respond(message, { result: {} }), InvalidResponse],
    [
      "200 with supportedVersions that are not texts",
      ({ message }) => respond(message, { result: { supportedVersions: [1] } }),
      InvalidResponse,
    ],
    ["202", at(202), HttpFailure],
    ["204", at(204), HttpFailure],
    ["302", at(302, "", { location: "https://example.com/login" }), HttpFailure],
  ])("%s, at once", async (_, probe, kind) => {
    const server = await serveScript(answering(probe));
    expect(await failing(server.url)).toBeInstanceOf(kind);
    expect(server.seen()).toEqual(["server/discover"]);
  });

  test.each<[what: string, probe: OnRequest, kind: abstract new (...args: never) => Error]>([
    ["429", at(429), HttpFailure],
    ["502", at(502), ConnectionLost],
    ["503 with Retry-After", at(503, "", { "retry-after": "0" }), HttpFailure],
    ["503 from a gateway", at(503), ConnectionLost],
    ["504", at(504), ConnectionLost],
    ["a connection that breaks", (_, reply) => void reply.destroy(), ConnectionLost],
  ])("%s, after three tries that are reported", async (_, probe, kind) => {
    const server = await serveScript(answering(probe));
    const events: ClientEvent[] = [];
    const failure = await failing(server.url, { observe: (event) => void events.push(event) });
    expect(failure).toBeInstanceOf(kind);
    expect(server.seen()).toEqual(["server/discover", "server/discover", "server/discover"]);
    const retries = events.filter((event) => event.type === "retry");
    expect(retries).toMatchObject([
      { method: "server/discover", attempt: 2 },
      { method: "server/discover", attempt: 3 },
    ]);
  });

  test("503 and then an answer: a server that starts is not taken for a legacy one", async () => {
    let probes = 0;
    const server = await serveScript(
      answering(({ message }) => (++probes < 3 ? { status: 503 } : respond(message, { result: discovered }))),
    );
    expect((await open(server.url)).revision).toBe(newestModern);
  });

  test("503 whose Retry-After is longer than the client may take to connect: at once", async () => {
    const server = await serveScript(answering(at(503, "", { "retry-after": "3600" })));
    expect(await failing(server.url)).toMatchObject({ status: 503, retryAfterMs: 3_600_000 });
    expect(server.seen()).toEqual(["server/discover"]);
  });

  test("a port at which nothing listens: an error that names it, soon", async () => {
    const port = await unusedPort();
    const failure = await failing(`http://127.0.0.1:${port}/mcp`);
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect(failure).toMatchObject({ reason: "unreachable", mayHaveRun: false });
    expect((failure as Error).message).toContain(`127.0.0.1:${port}`);
  });

  test("silence: the client waits as long as connecting may take, and names the limit", async () => {
    const server = await serveScript(answering(() => undefined));
    const failure = await failing(server.url, { connectTimeoutMs: 100 });
    expect(failure).toBeInstanceOf(CallTimeout);
    expect(failure).toMatchObject({ limit: "connectTimeoutMs" });
    expect(server.seen()).toEqual(["server/discover"]);
  });
});

describe("a server of HTTP+SSE [HTTP26-ERA-HTTPSSE]", () => {
  /** POSTs to the URL are refused; GET opens the stream, which names the URL for messages. */
  function older(status: number): OnRequest {
    let stream: { write(text: string): unknown } | undefined;
    return ({ verb, message }, reply) => {
      if (verb === "GET") {
        reply.writeHead(200, { "content-type": "text/event-stream" });
        reply.write("event: endpoint\ndata: /messages\n\n");
        stream = reply;
        return undefined;
      }
      if (reply.req.url === "/mcp") return { status };
      const result = { ...initialized, protocolVersion: "2024-11-05" };
      if (message.method === "initialize")
        stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n\n`);
      return { status: 202 };
    };
  }

  test.each([400, 404, 405])(
    "initialize is refused with %i: the client opens the older stream",
    async (status) => {
      const server = await serveScript(older(status));
      const client = await open(server.url);
      expect(client.revision).toBe("2024-11-05");
      expect(server.seen()).toEqual([
        "server/discover",
        "initialize",
        "GET",
        "initialize",
        "notifications/initialized",
      ]);
    },
  );

  test("neither transport: the client reports what the newer one met", async () => {
    const server = await serveScript(() => ({ status: 404, body: "Nothing here" }));
    const failure = await failing(server.url);
    expect(failure).toBeInstanceOf(HttpFailure);
    expect(failure).toMatchObject({ status: 404, body: "Nothing here" });
    expect(server.seen()).toEqual(["server/discover", "initialize", "GET"]);
  });
});
