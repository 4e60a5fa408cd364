// Requests that fail on their way: which are sent again, how often, and what the caller learns of the others.
import {
  type ClientEvent,
  connect,
  type ConnectionLost,
  type ConnectOptions,
  HttpFailure,
} from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { Refuse, said, ScriptedServer } from "../support/scripted-wire.ts";
import { nextTurn, until } from "../support/turns.ts";

const backoff = { firstMs: 1, maxMs: 2 };

async function start(revision: string, options: ConnectOptions = {}) {
  const events: ClientEvent[] = [];
  const server = new ScriptedServer({ revision });
  const client = await connect(server, { backoff, observe: (event) => events.push(event), ...options });
  onTestFinished(() => client.close());
  return { server, client, events };
}

const retries = (events: readonly ClientEvent[]): ClientEvent[] =>
  events.filter(({ type }) => type === "retry");

async function lossOf(call: Promise<unknown>): Promise<ConnectionLost> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "CONNECTION_LOST" });
  return error as ConnectionLost;
}

/** Each request that is always sent again, and a call that sends it. */
const repeatable: readonly (readonly [
  method: string,
  result: object,
  send: (client: Awaited<ReturnType<typeof connect>>) => Promise<unknown>,
])[] = [
  ["tools/list", { tools: [] }, (client) => client.request("tools/list")],
  ["prompts/list", { prompts: [] }, (client) => client.request("prompts/list")],
  ["resources/list", { resources: [] }, (client) => client.request("resources/list")],
  ["resources/templates/list", {}, (client) => client.request("resources/templates/list")],
  ["resources/read", { contents: [] }, (client) => client.readResource("note:///a")],
  ["prompts/get", { messages: [] }, (client) => client.getPrompt("a")],
  [
    "completion/complete",
    { completion: { values: [] } },
    (client) => client.complete({ type: "ref/prompt", name: "a" }, { name: "b", value: "" }),
  ],
  ["tasks/get", { taskId: "1" }, (client) => client.request("tasks/get", { taskId: "1" })],
];

describe.each(protocolRevisions.map(({ date }) => date))("a lost connection on %s", (revision) => {
  test.each(repeatable)(
    "%s is sent again with a fresh id, at most twice [RESUME-MODERN-REISSUE]",
    async (method, result, send) => {
      const { server, client, events } = await start(revision);
      let cuts = 2;
      server.on(method, (_, end) => (cuts-- > 0 ? end.cut() : result));
      await expect(send(client)).resolves.toMatchObject(result);
      const ids = server.of(method).map(({ id }) => id);
      expect(new Set(ids).size).toBe(3);
      expect(retries(events)).toMatchObject([
        { method, attempt: 2, reason: expect.stringContaining("cut the wire") },
        { method, attempt: 3 },
      ]);
      cuts = 3;
      const loss = await lossOf(send(client));
      expect(loss).toMatchObject({ reason: "cut", mayHaveRun: true });
      expect(server.of(method)).toHaveLength(6);
    },
  );

  test("a tool is not called again, and the error says that it may have run", async () => {
    const { server, client, events } = await start(revision);
    server.on("tools/call", (_, end) => end.cut());
    const loss = await lossOf(client.callTool("pay", { amount: 20 }));
    expect(loss).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(loss.message).toMatch(/^tools\/call pay: .*may have run it: check before you/s);
    expect(server.of("tools/call")).toHaveLength(1);
    expect(retries(events)).toEqual([]);
  });

  test("a tool is called again with reissue always, and not with never", async () => {
    const { server, client } = await start(revision, { reissue: "always" });
    let cuts = 2;
    server.on("tools/call", (_, end) => (cuts-- > 0 ? end.cut() : said("done")));
    await expect(client.callTool("add")).resolves.toMatchObject({ content: [{ text: "done" }] });
    cuts = 1;
    await lossOf(client.callTool("add", {}, { reissue: "never" }));
    expect(server.of("tools/call")).toHaveLength(4);
  });

  test("a call that the wire did not take is sent on the next one, since it cannot have run", async () => {
    const { server, client } = await start(revision);
    const open = server.openWire.bind(server);
    let refusals = 1;
    server.openWire = () => {
      const wire = open();
      const send = wire.send.bind(wire);
      wire.send = (text) => {
        if (text.includes("tools/call") && refusals-- > 0) throw new Error("The pipe is full");
        return send(text);
      };
      return wire;
    };
    server.on("tools/call", () => said("done"));
    server.end.cut();
    await expect(client.callTool("pay")).resolves.toMatchObject({ content: [{ text: "done" }] });
    expect(server.of("tools/call")).toHaveLength(1);
  });

  test("a call waits for the next connection, as long as its caller does", async () => {
    const { server, client } = await start(revision);
    server.on("tools/call", () => said("done"));
    const open = server.openWire.bind(server);
    let tries = 0;
    server.openWire = () => {
      tries++;
      throw new Error("Down");
    };
    server.end.cut();
    const abort = new AbortController();
    const left = client.callTool("a", {}, { signal: abort.signal });
    const patient = client.callTool("b");
    await until(() => tries > 1);
    abort.abort(new Error("The user left"));
    await expect(left).rejects.toThrow("The user left");
    server.openWire = open;
    await expect(patient).resolves.toMatchObject({ content: [{ text: "done" }] });
    expect(server.of("tools/call")).toMatchObject([{ params: { name: "b" } }]);
  });

  test("closing the client ends calls that wait to be sent", async () => {
    const { server, client } = await start(revision, { backoff: { firstMs: 60_000 } });
    server.openWire = () => {
      throw new Error("Down");
    };
    server.end.cut();
    const loss = lossOf(client.callTool("a"));
    await nextTurn();
    await client.close();
    await expect(loss).resolves.toMatchObject({ reason: "closed", mayHaveRun: false });
  });
});

test("a wire that cannot be opened again fails its calls at once", async () => {
  const server = new ScriptedServer({ reopens: false });
  const client = await connect(server);
  onTestFinished(() => client.close());
  server.on("tools/list", (_, end) => end.cut());
  await expect(lossOf(client.request("tools/list"))).resolves.toMatchObject({ mayHaveRun: true });
  await expect(lossOf(client.request("tools/list"))).resolves.toMatchObject({ mayHaveRun: false });
});

/** What a scripted web server does with a request: a status, a status with headers, or a failure below HTTP. */
type Reply = number | readonly [status: number, headers: Record<string, string>] | Error;

/** A client over HTTP whose calls of tools meet these replies, each after a delay, and then succeed. */
async function overHttp(replies: Reply[], options: ConnectOptions = {}, delay: () => number = () => 0) {
  const events: ClientEvent[] = [];
  const sent: { method: string; id: number; headers: Headers }[] = [];
  const json = (body: object): Response => Response.json(body);
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const { method, id } = JSON.parse(String(init?.body)) as { method: string; id: number };
    sent.push({ method, id, headers: new Headers(init?.headers) });
    if (method === "server/discover")
      return json({
        jsonrpc: "2.0",
        id,
        result: { resultType: "complete", supportedVersions: [newestModern], capabilities: {} },
      });
    if (method === "tools/list") return json({ jsonrpc: "2.0", id, result: { tools: [] } });
    const reply = replies.shift() ?? 200;
    const delayMs = delay();
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (reply instanceof Error) throw reply;
    const [status, headers] = typeof reply === "number" ? [reply, {}] : reply;
    if (status !== 200) return new Response("No", { status, headers });
    return json({ jsonrpc: "2.0", id, result: said("done") });
  };
  const client = await connect("https://mcp.example.com/mcp", {
    backoff,
    observe: (event) => events.push(event),
    fetch: fetch as typeof globalThis.fetch,
    ...options,
  });
  onTestFinished(() => client.close());
  const calls = (): typeof sent => sent.filter(({ method }) => method === "tools/call");
  return { client, events, calls };
}

/** A failure of fetch, as Node describes it. */
function failed(code: string, syscall?: string): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(), { code, syscall }) });
}

const refused = failed("ECONNREFUSED");
const reset = failed("ECONNRESET");
const busy = [503, { "Retry-After": "0" }] as const;

describe("over HTTP", () => {
  test("a call that the server refuses for now is sent again, after the time that it asks for", async () => {
    const { client, events, calls } = await overHttp([
      [503, { "Retry-After": "7" }],
      [429, { "Retry-After": "90" }],
    ]);
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("pay");
    // Time passes only while the client waits: loading parts of it takes turns, however many.
    for (const [count, waitMs] of [7000, 90_000].entries()) {
      while (retries(events).length <= count) await nextTurn();
      await nextTurn();
      await vi.advanceTimersByTimeAsync(waitMs);
    }
    await expect(call).resolves.toMatchObject({ content: [{ text: "done" }] });
    expect(retries(events)).toMatchObject([{ waitMs: 7000 }, { waitMs: 90_000, attempt: 3 }]);
    expect(new Set(calls().map(({ id }) => id)).size).toBe(3);
  });

  test.each<[string, Reply]>([
    ["429", 429],
    ["503 with Retry-After", busy],
    ["a refused connection", refused],
    ["a route that does not lead there", failed("EHOSTUNREACH", "connect")],
    ["a name that does not exist", failed("ENOTFOUND", "getaddrinfo")],
    ["a certificate that is not trusted", failed("DEPTH_ZERO_SELF_SIGNED_CERT")],
  ])("%s is met five times before the call fails", async (_, reply) => {
    const { client, calls } = await overHttp(Array.from({ length: 10 }, () => reply));
    const error = await client.callTool("pay").catch((reason: unknown) => reason);
    expect(calls()).toHaveLength(6);
    if (reply instanceof Error) expect(error).toMatchObject({ reason: "unreachable", mayHaveRun: false });
    else expect(error).toBeInstanceOf(HttpFailure);
  });

  test("the time that the server asked to wait for is not its silence", async () => {
    const replies: Reply[] = [[503, { "Retry-After": "5" }]];
    const delays = [0, 1500];
    const { client, calls } = await overHttp(replies, { timeoutMs: 2000 }, () => delays.shift() ?? 0);
    holdClocks("setTimeout", "clearTimeout");
    const call = client.callTool("pay");
    for (let steps = 0; steps < 70; steps++) {
      await nextTurn();
      await vi.advanceTimersByTimeAsync(100);
    }
    await expect(call).resolves.toMatchObject({ content: [{ text: "done" }] });
    expect(calls()).toHaveLength(2);
  });

  test("closing the client ends a call that waits as the server asked", async () => {
    const { client, events } = await overHttp([[503, { "Retry-After": "600" }]]);
    const loss = lossOf(client.callTool("pay"));
    await until(() => retries(events).length === 1);
    await client.close();
    await expect(loss).resolves.toMatchObject({ reason: "closed", mayHaveRun: false });
  });

  test("a server that asks to wait longer than the call may take fails it at once", async () => {
    const { client, calls } = await overHttp([[503, { "Retry-After": "3600" }]], { maxTimeMs: 60_000 });
    await expect(client.callTool("pay")).rejects.toMatchObject({ status: 503, retryAfterMs: 3_600_000 });
    expect(calls()).toHaveLength(1);
  });

  test.each([
    ["502", 502],
    ["503 from a gateway", 503],
    ["504", 504],
    ["522", 522],
    ["a reset", reset],
    ["a route that is lost", failed("EHOSTUNREACH", "read")],
    ["a network that is lost", failed("ENETUNREACH", "write")],
    ["TLS that is broken", failed("ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC")],
    ["TLS that is refused late", failed("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED")],
    ["a protocol error", failed("EPROTO", "write")],
  ])("%s may come after the tool has run: the call is not sent again", async (_, reply) => {
    const { client, calls } = await overHttp([reply]);
    await expect(lossOf(client.callTool("pay"))).resolves.toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(calls()).toHaveLength(1);
  });

  test.each([[400], [404], [500]])("%i is the outcome", async (status) => {
    const { client, calls } = await overHttp([status]);
    await expect(client.callTool("pay")).rejects.toMatchObject({ status });
    expect(calls()).toHaveLength(1);
  });

  test("an attempt that may have run is not forgotten when a later one did not", async () => {
    const replies = [reset, ...Array.from({ length: 6 }, () => refused)];
    const { client } = await overHttp(replies, { reissue: "always" });
    await expect(lossOf(client.callTool("add"))).resolves.toMatchObject({ mayHaveRun: true });
  });

  test("Mcp-Name repeats the name of the tool, and the caller's headers are added [HTTP26-MCP-NAME, HTTP26-MCP-NAME-ENCODE]", async () => {
    const { client, calls } = await overHttp([]);
    await client.callTool("pay", {}, { headers: { "X-Trace": "1" } });
    await client.callTool("größe");
    const [first, second] = calls();
    expect(first?.headers.get("mcp-name")).toBe("pay");
    expect(first?.headers.get("x-trace")).toBe("1");
    expect(second?.headers.get("mcp-name")).toBe(`=?base64?${Buffer.from("größe").toString("base64")}?=`);
  });
});

test("a request to a server that does not speak what was remembered of it is sent again as it does", async () => {
  const server = new ScriptedServer({ revision: newestLegacy });
  server.on("tools/list", () => {
    if (server.of("initialize").length === 0) throw new Refuse(-32601, "Not initialized");
    return { tools: [] };
  });
  const remembered = { revision: newestModern, capabilities: {}, at: Date.now() };
  const client = await connect(server, { remembered, backoff });
  onTestFinished(() => client.close());
  expect(server.received).toEqual([]);
  await expect(client.request("tools/list")).resolves.toEqual({ tools: [] });
  expect(client.revision).toBe(newestLegacy);
  await expect(client.request("unknown/method")).rejects.toMatchObject({ code: -32601 });
  expect(server.of("unknown/method")).toHaveLength(1);
});

test("aborting a lost call does not wait until the client knows whether it may be sent again", async () => {
  const server = new ScriptedServer();
  const client = await connect(server, { backoff });
  onTestFinished(() => client.close());
  server.on("tools/call", (_, end) => end.cut()).on("tools/list", () => undefined);
  const abort = new AbortController();
  const call = client.callTool("pay", {}, { signal: abort.signal });
  const outcome = expect(call).rejects.toThrow("The user left");
  await until(() => server.of("tools/list").length === 1);
  abort.abort(new Error("The user left"));
  await outcome;
});

test("calls on a connection that is replaced are lost with it, and not by a client that was closed", async () => {
  const server = new ScriptedServer({ revision: newestLegacy });
  const remembered = { revision: newestModern, capabilities: {}, at: Date.now() };
  server.on("tools/call", () => undefined);
  const client = await connect(server, { remembered, backoff });
  onTestFinished(() => client.close());
  const loss = lossOf(client.callTool("pay"));
  await client.request("unknown/method").catch(() => {});
  await expect(loss).resolves.toMatchObject({ reason: "cut", mayHaveRun: true });
});
