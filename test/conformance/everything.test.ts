// The fixture itself: how it is started, and its handles on the server.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Everything, everythingCommand, startEverything } from "../support/everything.ts";
import { eventually } from "../support/turns.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

interface Connected {
  readonly client: Client;
  readonly heard: { readonly method: string; readonly params?: unknown }[];
  call(name: string, args?: Record<string, unknown>): Promise<CallResult>;
}

interface CallResult {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, number>;
}

async function connect(transport: Transport): Promise<Connected> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const heard: Connected["heard"] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push({ method, params });
  await client.connect(transport);
  clients.push(client);
  const call: Connected["call"] = async (name, args = {}) =>
    (await client.callTool({ name, arguments: args })) as unknown as CallResult;
  return { client, heard, call };
}

async function connectHttp({ url }: Everything): Promise<Connected & { readonly session: string }> {
  const transport = new StreamableHTTPClientTransport(new URL(url));
  // The client opens its GET stream on its own, without waiting for it: a push is what shows that it is there.
  const connected = await connect(transport as Transport);
  return { ...connected, session: transport.sessionId ?? "" };
}

describe("the everything fixture over HTTP", () => {
  let fixture: Everything;

  beforeAll(async () => {
    fixture = await startEverything("--legacy-sse");
  });

  afterAll(async () => {
    expect(await fixture.stop()).toBe(0);
  });

  test("lists what the suite wants before its handles on the server", async () => {
    const { client } = await connectHttp(fixture);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    const handles = names.slice(names.indexOf("sleep_echo"));
    expect(names.filter((name) => name.startsWith("test_")).length).toBeGreaterThan(15);
    expect(handles).toEqual([
      "sleep_echo",
      "add_tool",
      "remove_tool",
      "touch_resource",
      "emit_numbered",
      "ping_session",
      "stats",
      "write_note",
    ]);
  });

  test("sleep_echo answers after its time", async () => {
    const { call } = await connectHttp(fixture);
    const started = performance.now();
    expect(await call("sleep_echo", { ms: 30, text: "Good morning" })).toMatchObject({
      content: [{ text: "Good morning" }],
    });
    expect(performance.now() - started).toBeGreaterThan(25);
  });

  test("add_tool and remove_tool change the list, and every session is notified", async () => {
    const { client, call } = await connectHttp(fixture);
    const { heard } = await connectHttp(fixture);
    const told = (): number => heard.filter(({ method }) => method.endsWith("tools/list_changed")).length;

    await call("add_tool", { name: "fresh" });
    expect((await client.listTools()).tools.at(-1)?.name).toBe("fresh");
    expect(await call("fresh")).toMatchObject({ content: [{ text: "This is fresh" }] });
    expect(await call("add_tool", { name: "fresh" })).toMatchObject({ isError: true });
    await eventually(() => expect(told()).toBe(1));

    await call("remove_tool", { name: "fresh" });
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("fresh");
    expect(await call("remove_tool", { name: "fresh" })).toMatchObject({ isError: true });
    await eventually(() => expect(told()).toBe(2));
  });

  test("touch_resource tells those who watch the URI, and any note can be read", async () => {
    const { client, heard, call } = await connectHttp(fixture);
    const uri = "note:///folder/a%20note?draft=1";
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
    await client.subscribeResource({ uri });
    expect(await call("touch_resource", { uri })).toMatchObject({ content: [{ text: "Told 1" }] });
    await eventually(() =>
      expect(heard).toEqual([{ method: "notifications/resources/updated", params: { uri } }]),
    );
    expect(await call("touch_resource", { uri: "note:///other" })).toMatchObject({
      content: [{ text: "Told 0" }],
    });
  });

  test("emit_numbered counts for each session on its own, and continues where it was", async () => {
    const one = await connectHttp(fixture);
    const other = await connectHttp(fixture);
    await one.call("emit_numbered", { count: 3, intervalMs: 1 });
    await Promise.all([
      one.call("emit_numbered", { count: 2, intervalMs: 0 }),
      other.call("emit_numbered", { count: 2, intervalMs: 0 }),
    ]);
    const numbers = ({ heard }: Connected): unknown[] =>
      heard.map(({ params }) => (params as { data?: unknown }).data);
    await eventually(() => expect(numbers(one)).toEqual([1, 2, 3, 4, 5]));
    await eventually(() => expect(numbers(other)).toEqual([1, 2]));
  });

  test("ping_session waits for that session's client", async () => {
    const { call } = await connectHttp(fixture);
    const { session, call: callOther, heard } = await connectHttp(fixture);
    await callOther("emit_numbered", { count: 1, intervalMs: 0 });
    await eventually(() => expect(heard).toHaveLength(1));
    expect(await call("ping_session", { sessionId: session })).toMatchObject({
      content: [{ text: `Session ${session} is alive` }],
    });
    expect(await call("ping_session", { sessionId: "nobody" })).toMatchObject({ isError: true });
  });

  test("stats says what is held", async () => {
    const { call, heard } = await connectHttp(fixture);
    await call("emit_numbered", { count: 1, intervalMs: 0 });
    await eventually(() => expect(heard).toHaveLength(1));
    const { structuredContent: stats = {} } = await call("stats");
    expect(Object.keys(stats)).toEqual([
      "sessions",
      "streams",
      "subscriptions",
      "inFlight",
      "inFlightBytes",
      "unsentBytes",
      "pendingAsks",
      "replayStreams",
      "replayBytes",
      "callers",
      "timers",
      "heapUsed",
    ]);
    expect(stats).toMatchObject({ subscriptions: 0, pendingAsks: 0, timers: 1 });
    for (const name of ["sessions", "streams", "inFlight", "replayStreams", "replayBytes", "heapUsed"]) {
      expect(stats[name], name).toBeGreaterThan(0);
    }
  });

  test("--legacy-sse serves the transport of 2024-11-05 beside", async () => {
    const { client } = await connect(new SSEClientTransport(new URL("/sse", fixture.url)));
    expect((await client.readResource({ uri: "note:///a" })).contents).toMatchObject([{ text: "Note a" }]);
  });
});

describe("the everything fixture", () => {
  test("--stdio serves the same", async () => {
    const [command, ...args] = everythingCommand("--stdio");
    const transport = new StdioClientTransport({ command, args, cwd: root, stderr: "ignore" });
    const { call, heard } = await connect(transport);
    expect(await call("emit_numbered", { count: 2, intervalMs: 0 })).toMatchObject({
      content: [{ text: "Emitted up to 2" }],
    });
    expect(heard).toHaveLength(2);
    expect((await call("stats")).structuredContent).toMatchObject({ sessions: 0, pendingAsks: 0 });
  });

  test("asks over HTTP+SSE as it does elsewhere, and counts once [ELIC-DELIVERY-LEGACY]", async () => {
    const fixture = await startEverything("--legacy-sse");
    const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: "accept",
      content: { name: "Ada", color: "green" },
    }));
    await client.connect(new SSEClientTransport(new URL("/sse", fixture.url)));
    clients.push(client);
    const { structuredContent } = await client.callTool({ name: "ask_twice", arguments: { key: "sse" } });
    expect(structuredContent).toEqual({ name: "Ada", color: "green", runs: 1 });
    await fixture.stop();
  });

  test("--mode stateless has no session to push to", async () => {
    const fixture = await startEverything("--mode", "stateless");
    try {
      const { call, session } = await connectHttp(fixture);
      expect(session).toBe("");
      expect(await call("emit_numbered", { count: 1, intervalMs: 0 })).toMatchObject({ isError: true });
    } finally {
      await fixture.stop();
    }
  });

  test.concurrent.each([
    { args: [], problem: "--port or --stdio is missing" },
    { args: ["--port", "many"], problem: "--port many is not a port" },
    { args: ["--port", "0", "--mode", "sideways"], problem: "--mode sideways is not a mode" },
    { args: ["--port", "0", "--backplane", "here"], problem: "--backplane here is not an engine" },
    { args: ["--port", "0", "--backplane", "http://here:1"], problem: "use redis://host:port or nats://" },
    { args: ["--stdio", "--port", "0"], problem: "--stdio goes with none of" },
    { args: ["--loud"], problem: "--loud" },
  ])("says what is wrong with $args and how it is used", async ({ args, problem }) => {
    const [command, ...rest] = everythingCommand(...args);
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(command, rest, { cwd: root }, (error, _, text) =>
        resolve({ code: error?.code, stderr: text }),
      );
    });
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
    expect(stderr.trim().split("\n").at(-1)).toMatch(/^Usage: npm run everything -- /);
  });
});
