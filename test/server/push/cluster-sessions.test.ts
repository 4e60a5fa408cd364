// Pushes and questions to a session find it on any node: through the node that has its pipe, or through its log.
import type { JsonObject, McpServer } from "halyard";
import { Connection, portOf } from "halyard/transport";
import type { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import type { Engine } from "../../support/backplane.ts";
import { HeldStream } from "../../support/held-stream.ts";
import { settled } from "../../support/listen.ts";
import { recordingLogger } from "../../support/log.ts";
import { HeldBackplane, joinNode, nodeId } from "../../support/nodes.ts";
import { PipePeer } from "../../support/pipe.ts";
import { until } from "../../support/turns.ts";

const message = "notifications/message";
const hello = { level: "info", data: "Hello" };

interface Made {
  readonly backplane: HeldBackplane;
  readonly one: McpServer;
  readonly two: McpServer;
  readonly spy: Engine;
}

async function twoNodes(): Promise<Made> {
  const backplane = new HeldBackplane();
  const join = (): Promise<McpServer> =>
    joinNode(backplane, { logger: recordingLogger(), capabilities: { logging: true } }, (server) => {
      server.tool("whoami", {}, (_, ctx) => ctx.session ?? "nobody");
    });
  const [one, two] = [await join(), await join()];
  await until(() => one.cluster.nodes().length === 2 && two.cluster.nodes().length === 2);
  return { backplane, one, two, spy: await backplane.spy() };
}

/** A legacy client on a pipe, and its session. */
async function onPipe(server: McpServer): Promise<{ client: TestClient; session: string; peer: PipePeer }> {
  const peer = new PipePeer(server, { revision: "2025-11-25" });
  await peer.client.open();
  const { content } = await peer.client.request("tools/call", { name: "whoami" });
  return { client: peer.client, session: (content as { text: string }[])[0]?.text ?? "", peer };
}

/** A session over HTTP as the engine has it. */
async function keepRecord(spy: Engine, id: string, more: JsonObject = {}): Promise<void> {
  const record = { id, revision: "2025-11-25", clientCapabilities: {}, initialized: true, ...more };
  await spy.create({ kind: "session", tag: id }, JSON.stringify(record), 60_000);
}

/** The messages that wait in the log of a session. */
async function logOf(spy: Engine, session: string): Promise<JsonObject[]> {
  const entries = await spy.read(session, 1);
  return entries.map(({ text }) => {
    const { k, m } = JSON.parse(text) as { k: string; m: string };
    expect(k).toBe("push");
    return JSON.parse(m) as JsonObject;
  });
}

/** The stream of a session over HTTP, which reads its messages from the log. */
class LogStream extends HeldStream {
  readonly recovers = true;
  reachable = false;
}

/** A session over HTTP that this node has a copy of. */
function holdCopy(server: McpServer, session: string): { stream: LogStream; connection: Connection } {
  const connection = new Connection({ transport: "http", session });
  connection.revision = portOf(server).revisions.legacy;
  connection.initialized = true;
  connection.logLevel = "warning";
  const stream = new LogStream();
  portOf(server).attach(connection, stream);
  return { stream, connection };
}

describe("toSession() in a cluster", () => {
  test("reaches the pipe of another node, whose id begins with the node", async () => {
    const { one, two } = await twoNodes();
    const { client, session } = await onPipe(two);
    expect(session.startsWith(`${nodeId(two)}.`)).toBe(true);
    expect(await one.push.toSession(session, message, hello)).toBe(true);
    expect(await two.push.toSession(session, message, hello)).toBe(true);
    await settled(client);
    expect(client.notifications(message)).toHaveLength(2);
    await client.request("logging/setLevel", { level: "error" });
    expect(await one.push.toSession(session, message, hello)).toBe(false);
  });

  test("resolves with false for a pipe that has ended, on a node that is there, gone, or this one", async () => {
    const { one, two } = await twoNodes();
    const { session, peer } = await onPipe(two);
    await peer.pipe.end(0);
    expect(await one.push.toSession(session, message, hello)).toBe(false);
    expect(await two.push.toSession(session, message, hello)).toBe(false);
    const gone = session.replace(nodeId(two), "a".repeat(12));
    expect(await one.push.toSession(gone, message, hello)).toBe(false);
  });

  test("rejects if the node of the pipe does not answer, since it is unknown whether it arrives", async () => {
    const { one, two, backplane } = await twoNodes();
    const { session } = await onPipe(two);
    backplane.meddle = (to, node) =>
      node === nodeId(two) ? { ...to, entry: () => {}, message: () => {} } : to;
    await expect(one.push.toSession(session, message, hello)).rejects.toMatchObject({
      code: "BACKPLANE_UNAVAILABLE",
    });
  });

  test("adds a message to the log of a session that this node does not have, if the engine has its record", async () => {
    const { one, spy, backplane } = await twoNodes();
    expect(await one.push.toSession("nobody", message, hello)).toBe(false);
    expect(await logOf(spy, "nobody")).toEqual([]);
    await keepRecord(spy, "somebody", { logLevel: "info" });
    backplane.operations.length = 0;
    expect(await one.push.toSession("somebody", message, hello)).toBe(true);
    expect(backplane.operations).toEqual(["get session", "append somebody"]);
    expect(await one.push.toSession("somebody", message, { level: "debug", data: "small" })).toBe(false);
    expect(await logOf(spy, "somebody")).toEqual([{ jsonrpc: "2.0", method: message, params: hello }]);
  });

  test("adds it with one operation if this node has a copy of the session, open or not", async () => {
    const { one, spy, backplane } = await twoNodes();
    await keepRecord(spy, "somebody");
    const { stream } = holdCopy(one, "somebody");
    const warning = { level: "warning", data: "!" };
    backplane.operations.length = 0;
    expect(await one.push.toSession("somebody", message, warning)).toBe(true);
    stream.reachable = true;
    expect(await one.push.toSession("somebody", message, warning)).toBe(true);
    expect(await one.push.toSession("somebody", message, hello)).toBe(false);
    expect(backplane.operations).toEqual(["append somebody", "append somebody"]);
    expect(await logOf(spy, "somebody")).toHaveLength(2);
    expect(stream.written).toEqual([]);
  });

  test("returns false if this node has a copy of a session that has ended", async () => {
    const { one, spy } = await twoNodes();
    holdCopy(one, "somebody");
    expect(await one.push.toSession("somebody", "notifications/tools/list_changed")).toBe(false);
    expect(await spy.read("somebody", 1)).toEqual([]);
  });

  test("rejects with BACKPLANE_UNAVAILABLE if the engine fails, and with the size of a message that is too large", async () => {
    const { one, backplane } = await twoNodes();
    holdCopy(one, "somebody");
    backplane.failing = (operation) => operation.startsWith("append");
    const pushed = one.push.toSession("somebody", "notifications/tools/list_changed");
    await expect(pushed).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
    const large = { level: "error", data: "x".repeat(300_000) };
    await expect(one.push.toSession("somebody", message, large)).rejects.toThrow("at most 262144");
    backplane.failing = (operation) => operation.startsWith("get");
    await expect(one.push.toSession("other", message, hello)).rejects.toMatchObject({
      code: "BACKPLANE_UNAVAILABLE",
    });
  });
});

describe("a stream that recovers", () => {
  test("gets changes with their positions while it is reachable, queues nothing while it is not, and reads the rest by since()", async () => {
    const { one, two } = await twoNodes();
    const { changes } = portOf(two);
    const { stream, connection } = holdCopy(two, "somebody");
    const { listener } = connection;
    if (!changes || !listener) throw new Error("The node has not joined");
    const positions: (string | undefined)[] = [];
    const { write } = HeldStream.prototype;
    stream.write = (text: string, position?: string) => {
      positions.push(position);
      return write.call(stream, text);
    };
    const start = changes.position;
    stream.reachable = true;
    expect(await two.push.broadcast(message, { level: "error", data: 1 })).toBe(1);
    expect(positions).toEqual([changes.position]);
    stream.reachable = false;
    expect(await two.push.broadcast(message, { level: "error", data: 2 })).toBe(0);
    await one.push.publish("notifications/tools/list_changed");
    await one.push.broadcast(message, { level: "debug", data: 3 });
    await one.push.publish("notifications/prompts/list_changed");
    await one.push.publish("notifications/tools/list_changed");
    await until(() => changes.since(positions[0] ?? "", listener, undefined)?.length === 2);
    stream.reachable = true;
    stream.drain();
    expect(stream.written).toHaveLength(1);

    const missed = changes.since(positions[0] ?? "", listener, undefined);
    expect(missed?.map(({ text }) => (JSON.parse(text) as { method: string }).method)).toEqual([
      message,
      "notifications/tools/list_changed",
    ]);
    // The two changes of one topic are one, in the place and with the position of the first.
    const [first, second] = missed?.map(({ position }) => Number.parseInt(position ?? "", 10)) ?? [];
    expect(second).toBe(Number(first) + 1);
    expect(changes.since(changes.position, listener, undefined)).toEqual([]);
    expect(changes.since(start, listener, undefined)).toHaveLength(3);
    expect(changes.since(start.replace(/-.*/, "-x"), listener, undefined)).toBeUndefined();
    expect(changes.since("999-x", listener, undefined)).toBeUndefined();
  });

  test("finds on a node that has joined later what was changed before", async () => {
    const { one, backplane } = await twoNodes();
    const start = portOf(one).changes?.position ?? "";
    await one.push.broadcast(message, { level: "error", data: "early" });
    const late = await joinNode(backplane);
    const { connection } = holdCopy(late, "somebody");
    const { listener } = connection;
    const missed = listener && portOf(late).changes?.since(start, listener, undefined);
    expect(missed?.map(({ text }) => JSON.parse(text) as JsonObject)).toMatchObject([
      { method: message, params: { data: "early" } },
    ]);
  });

  test("finds a gap after changes that a node could not share", async () => {
    const { one, two, backplane } = await twoNodes();
    const { connection } = holdCopy(two, "somebody");
    const { listener } = connection;
    const { changes } = portOf(two);
    const start = changes?.position ?? "";
    backplane.lose();
    await one.push.broadcast(message, hello);
    backplane.restore();
    await until(() => changes?.position !== start);
    expect(listener && changes?.since(start, listener, undefined)).toBeUndefined();
    expect(listener && changes?.since(changes.position, listener, undefined)).toEqual([]);
  });

  test("drops what was queued for a slow reader who then disconnects", async () => {
    const { two } = await twoNodes();
    const { stream, connection } = holdCopy(two, "somebody");
    stream.reachable = true;
    stream.congested = true;
    expect(await two.push.broadcast(message, { level: "error", data: 1 })).toBe(1);
    connection.listener?.forget();
    stream.drain();
    expect(stream.written).toEqual([]);
  });
});

describe("push.request in a cluster", () => {
  test("asks a client on the pipe of another node, which answers there", async () => {
    const { one, two } = await twoNodes();
    const { client, session } = await onPipe(two);
    const asking = one.push.request(session, "roots/list");
    const asked = await client.waitFor((got) => "method" in got && got.method === "roots/list");
    const { id } = asked as unknown as { id: string };
    expect(id.startsWith(`${nodeId(one)}.`)).toBe(true);
    expect(await one.push.pendingAsks()).toBe(1);
    expect(await two.push.pendingAsks()).toBe(0);
    client.send({ jsonrpc: "2.0", id, result: { roots: [] } });
    expect(await asking).toEqual({ roots: [] });
    expect(await one.push.pendingAsks()).toBe(0);
  });

  test("fails at once for a pipe that has ended or never existed", async () => {
    const { one, two } = await twoNodes();
    const { session, peer } = await onPipe(two);
    await peer.pipe.end(0);
    await expect(one.push.request(session, "ping")).rejects.toThrow("no open stream");
    await expect(one.push.request("nobody", "ping")).rejects.toThrow("no open stream");
    expect(await one.push.pendingAsks()).toBe(0);
  });

  test("waits in the log of a session over HTTP until its time is over, and is withdrawn there", async () => {
    const { one, spy } = await twoNodes();
    await keepRecord(spy, "somebody");
    const asked = one.push.request("somebody", "ping", undefined, { timeoutMs: 50 });
    await expect(asked).rejects.toMatchObject({ code: "ASK_FAILED" });
    await until(async () => (await logOf(spy, "somebody")).length === 2);
    const [question, withdrawn] = await logOf(spy, "somebody");
    expect(question).toMatchObject({ method: "ping" });
    expect(withdrawn).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: question?.["id"] },
    });
  });

  test("rejects with BACKPLANE_UNAVAILABLE if the engine cannot take the question", async () => {
    const { one, backplane } = await twoNodes();
    holdCopy(one, "somebody");
    backplane.failing = (operation) => operation.startsWith("append");
    await expect(one.push.request("somebody", "ping")).rejects.toMatchObject({
      code: "BACKPLANE_UNAVAILABLE",
    });
    expect(await one.push.pendingAsks()).toBe(0);
  });
});
