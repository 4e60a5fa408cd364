// The limits of docs/reference/limits.md are those of the code: each probe tells whether the limit is exactly what the page says.
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { ConfigurationError, McpServer } from "halyard";
import { defaultClientLimits } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { Connection, portOf } from "halyard/transport";
import { defaultCallerLimits, defaultHttpLimits } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { connect, RpcRejection } from "halyard/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { readDocument } from "./support/documents.ts";
import { defaultsUnder, limitOf, limitsPage, limitsUnder } from "./support/limits-page.ts";
import { listen } from "./support/listen.ts";
import { joinNode } from "./support/nodes.ts";
import { initializeRequest, metaKeys, modernRequest, RawPeer } from "./support/raw.ts";
import { askingServer, begin, retry, type Turn, ways } from "./support/asking-server.ts";
import { until } from "./support/turns.ts";

const modern = { revision: "2026-07-28" };
const info = { name: "test", version: "1.0.0" };
const headings = [...readDocument(limitsPage).matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);
/** Times that nothing exceeds. */
const outcomeless = new Set(["streamAfterMs", "keepAliveMs", "retryMs", "backoff.firstMs", "backoff.maxMs"]);

type Probe = (limit: number) => Promise<void>;

/** By the heading and the name of the limit: whether `limit` is where the behaviour changes. */
const probes: Readonly<Record<string, Readonly<Record<string, Probe>>>> = {
  Server: {
    pageSize: probePageSize,
    "characters of a URI": probeUri,
    "characters of an id": probeId,
    "characters of a client": probeClient,
    "characters of a tool name": probeToolName,
    "values of a completion": probeCompletion,
    "bytes of a shared message": probeShared,
    "steps of a validation": probeSteps,
    "characters for a backtracking pattern": probeBacktracking,
  },
  "Request state": { ttlMs: probeStateTime, maxBytes: probeStateLength, maxMarks: probeMarks },
  Stdio: { graceMs: probeGrace, "characters waiting on stdio": probeWaitingOutput },
};

afterEach(() => void vi.useRealTimers());

test.each([
  ["Server", portOf(new McpServer(info)).limits],
  ["HTTP", defaultHttpLimits],
  ["Client", defaultClientLimits],
])("the options `limits` under %s are those of the package", (heading, limits) => {
  expect(defaultsUnder(heading, "limits.")).toEqual(limits);
});

test("defaultCallerLimits are those of the page", () => {
  expect(defaultsUnder("Rate limits", "")).toEqual(defaultCallerLimits);
});

test("every time of a client that has a default is on the page", () => {
  const declared = [
    "settings/options",
    "settings/call-options",
    "settings/command",
    "settings/limits",
    "oauth/settings/options",
  ].map((file) => readDocument(`dist/client/${file}.d.ts`));
  const defaults = declared
    .join("\n")
    .matchAll(/@default \{[^}]*\}\s+\*\/\s+readonly (\w+)\??: number(?: \| undefined)?;/g);
  const times = [...defaults].map(([, name = ""]) => name).filter((name) => /Ms$|^maxAttempts$/.test(name));
  const listed = limitsUnder("Times of a client").map(({ name }) => name.replace("backoff.", ""));
  expect(listed.toSorted()).toEqual(times.toSorted());
});

test.each(headings)("%s says of every limit what happens past it", (heading) => {
  const silent = limitsUnder(heading).filter(({ name, past }) => past === "" && !outcomeless.has(name));
  expect(silent).toEqual([]);
});

test.each(Object.keys(probes))("every limit of %s has a probe, or is among `limits`", (heading) => {
  const names = limitsUnder(heading).map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith("limits."))).toEqual(Object.keys(probes[heading] ?? {}));
});

test("the limits of a tool are those of the page, and take no other value than theirs", () => {
  const listed = limitsUnder("Tool").map(({ name }) => name);
  expect(listed).toEqual(["timeoutMs", "maxConcurrent"]);
  for (const limit of listed) {
    const server = new McpServer(info);
    expect(() => server.tool("limited", { [limit]: 1 }, () => "")).not.toThrow();
    expect(() => server.tool("wrong", { [limit]: 0 }, () => "")).toThrow(ConfigurationError);
  }
});

describe.each(Object.entries(probes))("the limits under %s", (heading, ownProbes) => {
  test.each(Object.entries(ownProbes))("%s is what the page says", (name, probe) =>
    probe(limitOf(heading, name)),
  );
});

describe("the limits of tasks", () => {
  const limits = defaultsUnder("Tasks", "tasks.");
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };

  /** How many tasks of that many principals begin before one is refused. */
  async function begun(principals: number): Promise<number> {
    const server = new McpServer(info);
    server.tool("hang", { task: "optional" }, () => new Promise<string>(() => {}));
    for (let count = 0; ; count++) {
      const subject = `${count % principals}`;
      const connection = new Connection({ transport: "memory", principal: { issuer: "i", subject } });
      const meta = { [metaKeys.clientCapabilities]: capabilities };
      const peer = new RawPeer(server, modern.revision, connection);
      const { error } = await peer.request("tools/call", { name: "hang", _meta: meta });
      if (error !== undefined) return count;
    }
  }

  function peerOf(server: McpServer, subject: string): RawPeer {
    const connection = new Connection({ transport: "memory", principal: { issuer: "i", subject } });
    return new RawPeer(server, modern.revision, connection);
  }

  const _meta = { [metaKeys.clientCapabilities]: capabilities };

  /** How many tasks of these owners are kept before one is refused. */
  async function kept(owner: (count: number) => string): Promise<number> {
    const server = new McpServer(info, { tasks: { maxRunning: 100_000, maxRunningPerPrincipal: 100_000 } });
    server.tool("quick", { task: "optional" }, () => "");
    for (let count = 0; ; count += 100) {
      const calls = Array.from({ length: 100 }, (_, at) =>
        peerOf(server, owner(count + at)).request("tools/call", { name: "quick", _meta }),
      );
      const refused = (await Promise.all(calls)).filter(({ error }) => error !== undefined);
      if (refused.length > 0) return count + 100 - refused.length;
    }
  }

  /** The status of a task of each owner, whose result is that long. */
  async function endsOf(owners: readonly string[], size: number): Promise<unknown[]> {
    const server = new McpServer(info, { logger: { ...console, error() {} } });
    server.tool("big", { task: "optional" }, () => "x".repeat(size));
    const ends: unknown[] = [];
    for (const owner of owners) {
      const peer = peerOf(server, owner);
      const { taskId } = (await peer.request("tools/call", { name: "big", _meta })).result ?? {};
      const statusOf = async (): Promise<unknown> =>
        (await peer.request("tasks/get", { taskId, _meta })).result?.["status"];
      await until(async () => (await statusOf()) !== "working");
      ends.push(await statusOf());
    }
    return ends;
  }

  const probesOfTasks: Record<string, (limit: number) => Promise<void>> = {
    ttlMs: async (limit) => expect(await ttlFor({})).toBe(limit),
    maxTtlMs: async (limit) => expect(await ttlFor({ ttl: 2 * limit })).toBe(limit),
    maxRunning: async (limit) => expect(await begun(2 * limit)).toBe(limit),
    maxRunningPerPrincipal: async (limit) => expect(await begun(1)).toBe(limit),
    maxTasks: async (limit) => expect(await kept((count) => `owner-${count}`)).toBe(limit),
    maxTasksPerPrincipal: async (limit) => expect(await kept(() => "somebody")).toBe(limit),
    maxSize: async (limit) => {
      // Of several owners, for one may have less; the one before the last would have more than remains.
      const owners = Array.from({ length: 65 }, (_, at) => `${at}`);
      const ends = await endsOf(owners, limit / 64 - 1000);
      expect(ends).toEqual(owners.map((_, at) => (at < 63 ? "completed" : "failed")));
    },
    maxSizePerPrincipal: async (limit) => {
      expect(await endsOf(["somebody"], limit - 1000)).toEqual(["completed"]);
      expect(await endsOf(["somebody"], limit + 1000)).toEqual(["failed"]);
    },
  };

  /** How long a task is kept whose client wishes this. */
  async function ttlFor(task: object): Promise<unknown> {
    const server = new McpServer(info);
    server.tool("quick", { task: "optional" }, () => "");
    const client = await connect(server, { revision: "2025-11-25" });
    const result = await client.request("tools/call", { name: "quick", task });
    await client.close();
    return (result["task"] as { ttl?: unknown }).ttl;
  }

  test("are all tried", () => expect(Object.keys(limits)).toEqual(Object.keys(probesOfTasks)));

  test.each(Object.entries(probesOfTasks))("%s is what the page says", (name, probe) =>
    probe(limitOf("Tasks", `tasks.${name}`)),
  );
});

async function probePageSize(limit: number): Promise<void> {
  const server = new McpServer(info);
  for (let index = 0; index < limit; index++) server.tool(`tool-${index}`, {}, () => "");
  const client = await connect(server, modern);
  expect(await client.request("tools/list")).not.toHaveProperty("nextCursor");
  server.tool("one-more", {}, () => "");
  expect(await client.request("tools/list")).toHaveProperty("nextCursor");
  await client.close();
}

/** One reply is written at once, and blocks; from then on what is written waits. */
async function probeWaitingOutput(limit: number): Promise<void> {
  const size = limit / 16;
  const server = new McpServer(info);
  server.tool("block", {}, () => "x".repeat(size));
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1 });
  const stdio = await serveStdio(server, { input, output, graceMs: 0 });
  const send = async (id: number): Promise<boolean> => {
    input.write(`${call(id, "block")}\n`);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    return input.isPaused();
  };
  const paused: boolean[] = [];
  for (let id = 1; id <= 18; id++) paused.push(await send(id));
  // Sixteen replies are a little more than the limit, since each has an envelope; the next message feels it.
  expect(paused.indexOf(true)).toBe(17);
  output.resume();
  await stdio.close();
}

async function probeGrace(limit: number): Promise<void> {
  // A test below measures the remaining time, so the clock must stand still.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const server = new McpServer(info);
  server.tool("hang", {}, () => new Promise<string>(() => {}));
  const input = new PassThrough();
  const stdio = await serveStdio(server, { input, output: new PassThrough().resume() });
  const closed = vi.fn<() => void>();
  void stdio.closed.then(closed);
  input.end(`${call(1, "hang")}\n`);
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  await vi.advanceTimersByTimeAsync(limit - 1);
  expect(closed).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  expect(closed).toHaveBeenCalled();
}

async function probeUri(limit: number): Promise<void> {
  const server = new McpServer(info);
  server.resourceTemplate("note:///{id}", {}, () => "A note");
  const client = await connect(server, modern);
  const uri = `note:///${"a".repeat(limit - 8)}`;
  await expect(client.request("resources/read", { uri })).resolves.toBeDefined();
  await expect(client.request("resources/read", { uri: `${uri}a` })).rejects.toThrow(RpcRejection);
  await client.close();
}

async function probeId(limit: number): Promise<void> {
  const server = new McpServer(info);
  server.tool("t", {}, () => "");
  const client = await connect(server, modern);
  const notifications = { toolsListChanged: true };
  expect(await listen(client, notifications, "a".repeat(limit))).toEqual(notifications);
  await client.close();
  const request = (length: number): object => modernRequest("a".repeat(length), "tools/list");
  const peer = new RawPeer(server, modern.revision);
  expect(await peer.say(request(limit))).toHaveProperty("result");
  const refused = await peer.say(request(limit + 1));
  expect(refused).toMatchObject({ error: { code: -32600 } });
  expect(JSON.stringify(refused)).not.toContain("aa");
}

async function probeClient(limit: number): Promise<void> {
  const named = (name: string): object => ({ name, version: "1" });
  const most = limit - JSON.stringify(named("")).length - JSON.stringify({}).length;
  const introduce = (length: number): Promise<unknown> => {
    const clientInfo = named("a".repeat(length));
    const peer = new RawPeer(new McpServer(info), "2025-11-25");
    return peer.say(initializeRequest(0, peer.revision, { clientInfo }));
  };
  expect(await introduce(most)).toHaveProperty("result");
  expect(await introduce(most + 1)).toMatchObject({ error: { code: -32602 } });
}

async function probeToolName(limit: number): Promise<void> {
  const server = new McpServer(info);
  server.tool("a".repeat(limit), {}, () => "");
  expect(() => server.tool("a".repeat(limit + 1), {}, () => "")).toThrow(ConfigurationError);
}

/** Each schema that is entered is a step: here one for the root, one for the list, and twenty for each item. */
async function probeSteps(limit: number): Promise<void> {
  const items = { allOf: Array.from({ length: 19 }, () => true) };
  const list = Array.from({ length: 49_999 }, () => 1);
  const rest = limit - 2 - 20 * list.length;
  for (const [more, isRefused] of [
    [0, undefined],
    [1, true],
  ] as const) {
    const server = new McpServer(info);
    const allOf = Array.from({ length: rest + more }, () => true);
    server.tool("t", { input: { type: "object", properties: { list: { items, allOf } } } }, () => "");
    const client = await connect(server, modern);
    const result = await client.request("tools/call", { name: "t", arguments: { list } });
    expect(result["isError"]).toBe(isRefused);
    await client.close();
  }
}

async function probeBacktracking(limit: number): Promise<void> {
  const server = new McpServer(info, { logger: { ...console, warn() {} } });
  const properties = { text: { pattern: "^(?!b)a*$" } };
  server.tool("t", { input: { type: "object", properties } }, () => "");
  const client = await connect(server, modern);
  for (const [length, isRefused] of [
    [limit, undefined],
    [limit + 1, true],
  ] as const) {
    const result = await client.request("tools/call", { name: "t", arguments: { text: "a".repeat(length) } });
    expect(result["isError"]).toBe(isRefused);
  }
  await client.close();
}

async function probeShared(limit: number): Promise<void> {
  const server = await joinNode(memoryBackplane());
  const send = (length: number): Promise<number> =>
    server.push.broadcast("notifications/message", { data: "x".repeat(length) });
  // The rest of the entry has fewer than 200 characters.
  expect(await send(limit - 200)).toBe(0);
  await expect(send(limit)).rejects.toThrow(RangeError);
}

async function probeCompletion(limit: number): Promise<void> {
  const server = new McpServer(info);
  const values = Array.from({ length: limit + 1 }, (_, index) => `value-${index}`);
  server.prompt("pick", { arguments: { type: "object", properties: { one: {} } } }, () => "");
  server.completion(() => values);
  const client = await connect(server, modern);
  const params = { ref: { type: "ref/prompt", name: "pick" }, argument: { name: "one", value: "" } };
  const { completion } = await client.request("completion/complete", params);
  expect(completion).toEqual({ values: values.slice(0, limit), total: limit + 1, hasMore: true });
  await client.close();
}

async function probeStateTime(limit: number): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  const say = await ways.memory(askingServer().server);
  const turn = { method: "tools/call", params: { name: "ask" } };
  const state = await begin(say, turn);
  vi.setSystemTime(Date.now() + limit - 1);
  expect(await say(retry(turn, state))).not.toHaveProperty("error");
  vi.setSystemTime(Date.now() + 1);
  expect(await say(retry(turn, state))).toHaveProperty("error.code", -32602);
}

/** Four characters are three bytes, so that a state may end up to three characters before the limit. */
async function probeStateLength(limit: number): Promise<void> {
  const say = await ways.memory(askingServer().server);
  const keep = (size: number): Turn => ({
    method: "tools/call",
    params: { name: "keep", arguments: { state: "x".repeat(size) } },
  });
  const empty = (await begin(say, keep(0))).length;
  const most = Math.floor(((limit - empty) * 3) / 4);
  expect((await begin(say, keep(most - 2))).length).toBeLessThanOrEqual(limit);
  expect(await say(keep(most + 3))).toHaveProperty("error.code", -32603);
}

/** Marking so many states takes a minute, so this reads what the package says of its option. */
async function probeMarks(limit: number): Promise<void> {
  const declared = readFileSync(
    new URL("../dist/server/request-state/options.d.ts", import.meta.url),
    "utf8",
  );
  expect(declared).toMatch(new RegExp(String.raw`@default \{${limit}\}\s+\*/\s+readonly maxMarks\?`));
}

function call(id: number, name: string): string {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": modern.revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, _meta: meta } });
}
