// A question of one node is answered on any other; hostile and late answers change nothing.
import type { JsonObject, McpServer, RequestId } from "halyard";
import { Connection, portOf, type RpcMessage } from "halyard/transport";
import { describe, expect, test, vi } from "vitest";
import type { Engine } from "../../support/backplane.ts";
import { holdClocks } from "../../support/clock.ts";
import { HeldStream } from "../../support/held-stream.ts";
import { type LogEntry, recordingLogger } from "../../support/log.ts";
import { HeldBackplane, joinNode, nodeId } from "../../support/nodes.ts";
import { PipePeer } from "../../support/pipe.ts";
import { nextTurn, until } from "../../support/turns.ts";

interface Made {
  readonly backplane: HeldBackplane;
  readonly one: McpServer;
  readonly two: McpServer;
  readonly log: LogEntry[];
  readonly spy: Engine;
}

const session = "s-1";
const note = "note:///a";

async function twoNodes(): Promise<Made> {
  const backplane = new HeldBackplane();
  const logger = recordingLogger();
  const join = (): Promise<McpServer> =>
    joinNode(backplane, { logger }, (server) => {
      server.resource(note, {}, () => "a");
      server.tool("secret", { scopes: ["secrets"] }, async (_, ctx) => JSON.stringify(await ctx.roots()));
      server.tool("ask", {}, async (_, ctx) => JSON.stringify(await ctx.roots()));
      server.tool("visit", {}, async (_, ctx) => {
        await ctx.elicit("Connect", new URL("https://example.com/"), { elicitationId: "page-1" });
        return "connected";
      });
    });
  const [one, two] = [await join(), await join()];
  await until(() => one.cluster.nodes().length === 2 && two.cluster.nodes().length === 2);
  return { backplane, one, two, log: logger.entries, spy: await backplane.spy() };
}

function connect(server: McpServer, id = session, scopes?: readonly string[]): Connection {
  const principal = scopes && { issuer: "i", subject: "s", scopes: [...scopes] };
  const connection = new Connection({ transport: "http", session: id, principal });
  connection.revision = portOf(server).revisions.legacy;
  connection.initialized = true;
  connection.clientCapabilities = { roots: {} };
  return connection;
}

/** A call of a session on the first node whose handler asks the client. */
async function asking(
  server: McpServer,
  tool = "ask",
  scopes?: readonly string[],
): Promise<{ id: RequestId; done: Promise<unknown>; stream: HeldStream }> {
  const stream = new HeldStream();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool } } as const;
  const done = server.handle(call, { connection: connect(server, session, scopes), stream });
  await until(() => stream.written.length === 1);
  return { id: (stream.written[0] as { id?: RequestId }).id ?? "", done, stream };
}

function answer(id: RequestId, uri = "file:///a"): RpcMessage & JsonObject {
  return { jsonrpc: "2.0", id, result: { roots: [{ uri }] } };
}

function textOf(response: unknown): string {
  return JSON.stringify((response as { result: unknown }).result);
}

describe("an answer on another node", () => {
  test("settles the question; a second one on any node is taken and changes nothing", async () => {
    const { one, two } = await twoNodes();
    const { id, done } = await asking(one);
    expect(String(id).startsWith(`${nodeId(one)}.`)).toBe(true);
    expect(await two.handle(answer(id), { connection: connect(two) })).toBeUndefined();
    expect(await two.handle(answer(id, "file:///b"), { connection: connect(two) })).toBeUndefined();
    expect(await one.handle(answer(id, "file:///c"), { connection: connect(one) })).toBeUndefined();
    expect(textOf(await done)).toContain("file:///a");
    expect(await one.push.pendingAsks()).toBe(0);
  });

  test("does not settle a question to another session, or without the scopes of the call", async () => {
    const { one, two } = await twoNodes();
    const { id, done } = await asking(one, "secret", ["secrets"]);
    const wrong = [connect(two, "s-2", ["secrets"]), connect(two), connect(two, session, ["other"])];
    for (const connection of wrong) expect(await two.handle(answer(id), { connection })).toBeUndefined();
    expect(await one.push.pendingAsks()).toBe(1);
    await two.handle(answer(id, "file:///right"), { connection: connect(two, session, ["secrets"]) });
    expect(textOf(await done)).toContain("file:///right");
  });

  test("is taken and dropped if the node that asked is gone", async () => {
    const { two } = await twoNodes();
    const id = `${"a".repeat(12)}.${crypto.randomUUID()}`;
    expect(await two.handle(answer(id), { connection: connect(two) })).toBeUndefined();
  });

  test("fails with BACKPLANE_UNAVAILABLE if the node that asked is there and does not confirm it", async () => {
    const { one, two, backplane } = await twoNodes();
    const { id } = await asking(one);
    backplane.meddle = (to, node) => (node === nodeId(one) ? { ...to, message: () => {} } : to);
    const sent = two.handle(answer(id), { connection: connect(two) });
    await expect(sent).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
    backplane.failing = (operation) => operation.startsWith("send");
    const again = two.handle(answer(id), { connection: connect(two) });
    await expect(again).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
  });

  test("is logged on a pipe if it gets lost, and the pipe continues", async () => {
    const { one, two, backplane, log } = await twoNodes();
    const { client, connection } = await legacyPipe(two);
    const asked = one.push.request(connection.session ?? "", "roots/list", undefined, { timeoutMs: 5000 });
    const question = await client.waitFor((got) => "method" in got && got.method === "roots/list");
    backplane.failing = (operation) => operation.startsWith("send");
    client.send(answer((question as { id?: RequestId }).id ?? ""));
    await until(() => log.some((line) => line.message.includes("did not reach the node that asked")));
    expect(await client.request("ping")).toEqual({});
    backplane.failing = () => false;
    client.send(answer((question as { id?: RequestId }).id ?? ""));
    expect(await asked).toEqual({ roots: [{ uri: "file:///a" }] });
  });

  test("that arrives twice, because the bus doubles messages, settles one question once", async () => {
    const { one, two, backplane } = await twoNodes();
    backplane.meddle = (to) => ({
      entry: (log, entry) => to.entry(log, entry),
      message: (text) => {
        to.message(text);
        to.message(text);
      },
    });
    const { id, done } = await asking(one);
    await two.handle(answer(id), { connection: connect(two) });
    expect(textOf(await done)).toContain("file:///a");
  });

  test("keeps the question open while the client reports progress on another node", async () => {
    const { one, two } = await twoNodes();
    const { client, connection } = await legacyPipe(two);
    holdClocks("setTimeout", "clearTimeout");
    const asked = one.push.request(connection.session ?? "", "roots/list", undefined, { timeoutMs: 1000 });
    const refused = expect(asked).rejects.toMatchObject({ code: "ASK_FAILED" });
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    const question = client.received.find((got) => "method" in got && got.method === "roots/list");
    for (let round = 0; round < 3; round++) {
      await vi.advanceTimersByTimeAsync(700);
      client.notify("notifications/progress", {
        progressToken: (question as { id?: RequestId }).id,
        progress: round,
      });
      for (let turn = 0; turn < 10; turn++) await nextTurn();
    }
    expect(await one.push.pendingAsks()).toBe(1);
    await vi.advanceTimersByTimeAsync(1100);
    await refused;
  });
});

async function legacyPipe(server: McpServer): Promise<PipePeer["pipe"] & Pick<PipePeer, "client">> {
  const peer = new PipePeer(server, {
    revision: "2025-11-25",
    capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
  });
  await peer.client.open();
  return Object.assign(peer.pipe, { client: peer.client });
}

describe("forged messages between nodes", () => {
  const uuid = crypto.randomUUID();
  const rows: readonly [kind: string, body: unknown][] = [
    ["answer", {}],
    ["answer", { session: 1, response: { id: uuid, result: {} } }],
    ["answer", { session, response: "x" }],
    ["answer", { session, response: { id: { toString: 1 }, result: {} } }],
    ["answer", { session, response: { id: "__proto__", result: {} }, grant: "everything" }],
    ["ask-progress", { session: {}, token: uuid }],
    ["ask-progress", { session, token: ["x"] }],
    ["push", { session, method: 1 }],
    ["push", { session, method: "notifications/x", params: [] }],
    ["push", { session: "constructor", method: "notifications/x" }],
    ["ask", { session, text: 1 }],
    ["ask", { session, text: "{}", scopes: "all" }],
    ["subscribed", { topic: {} }],
    ["elicited", { id: ["page-1"] }],
    ["beat", { lists: { tools: 5, __proto__: 1 }, changes: { toString: 1 } }],
    ["beat", { lists: "x", changes: "not-a-position" }],
    ["__proto__", {}],
    ["constructor", {}],
  ];

  test.each(rows)("of the kind %s with the body %j change nothing", async (kind, body) => {
    const { one, two, spy } = await twoNodes();
    const { id, done } = await asking(one);
    const forged = JSON.stringify({ v: 1, from: nodeId(two), kind, body, id: "9999" });
    await spy.send(nodeId(one), forged);
    await nextTurn();
    expect(await one.push.pendingAsks()).toBe(1);
    await two.handle(answer(id), { connection: connect(two) });
    expect(textOf(await done)).toContain("file:///a");
  });
});

describe("isSubscribed in a cluster", () => {
  test("asks all nodes, and takes silence and a lost engine for yes", async () => {
    const { one, two, backplane } = await twoNodes();
    expect(await one.push.isSubscribed(note)).toBe(false);
    const { client } = await legacyPipe(two);
    await client.request("resources/subscribe", { uri: note });
    expect(await one.push.isSubscribed(note)).toBe(true);
    expect(await two.push.isSubscribed(note)).toBe(true);
    expect(await one.push.isSubscribed("note:///b")).toBe(false);
    await client.request("resources/unsubscribe", { uri: note });
    expect(await one.push.isSubscribed(note)).toBe(false);
    backplane.meddle = (to, node) => (node === nodeId(two) ? { ...to, message: () => {} } : to);
    expect(await one.push.isSubscribed(note)).toBe(true);
    backplane.failing = () => true;
    expect(await one.push.isSubscribed(note)).toBe(true);
  });
});

describe("elicitationComplete in a cluster", () => {
  test("notifies the client from whichever node it is called on, once", async () => {
    const { one, two } = await twoNodes();
    const { client } = await legacyPipe(two);
    const visiting = client.request("tools/call", { name: "visit" });
    const page = await client.waitFor((got) => "method" in got && got.method === "elicitation/create");
    expect(await one.push.elicitationComplete("page-1")).toBe(true);
    const completed = "notifications/elicitation/complete";
    await client.waitFor((got) => "method" in got && got.method === completed);
    expect(await one.push.elicitationComplete("page-1")).toBe(false);
    expect(await two.push.elicitationComplete("page-1")).toBe(false);
    client.send({ jsonrpc: "2.0", id: (page as { id?: RequestId }).id, result: { action: "accept" } });
    await visiting;
  });
});
