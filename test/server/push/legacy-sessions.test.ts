// Legacy sessions as the hub knows them: every legacy connection is one, and each is reached exactly once.
import { McpServer } from "halyard";
import { Connection, portOf } from "halyard/transport";
import { connect, protocolRevisions, type TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { HeldStream } from "../../support/held-stream.ts";
import { describe as inShort, listen, settled } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { PipePeer } from "../../support/pipe.ts";
import { deferred, nextTurn } from "../../support/turns.ts";

const method = "notifications/message";
const hello = { level: "info", data: "Hello" };

function toolServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.tool("whoami", {}, (_, ctx) => ctx.session ?? "nobody");
  return server;
}

async function sessionOf(client: TestClient): Promise<string> {
  const { content } = await client.request("tools/call", { name: "whoami" });
  return (content as { text: string }[])[0]?.text ?? "";
}

describeMatrix("legacy sessions", { eras: ["legacy"] }, (cell) => {
  test("broadcast() reaches every session once and answers how many", async () => {
    const server = toolServer();
    const clients = [await cell.connect(server), await cell.connect(server), await cell.connect(server)];
    expect(await server.push.count()).toBe(3);
    expect(await server.push.broadcast(method, hello)).toBe(3);
    for (const client of clients) {
      await settled(client);
      expect(client.notifications(method)).toEqual([{ jsonrpc: "2.0", method, params: hello }]);
      await client.close();
    }
    expect(await server.push.broadcast(method, hello)).toBe(0);
    expect(await server.push.count()).toBe(0);
  });

  test("toSession() reaches the session it names and no other", async () => {
    const server = toolServer();
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    const session = await sessionOf(one);
    expect(await server.push.sessions()).toEqual(expect.arrayContaining([session, await sessionOf(two)]));
    expect(await server.push.sessions()).toHaveLength(2);
    expect(await server.push.toSession(session, method, hello)).toBe(true);
    await settled(one);
    await settled(two);
    expect(one.notifications(method)).toHaveLength(1);
    expect(two.notifications(method)).toHaveLength(0);
    await one.close();
    expect(await server.push.toSession(session, method, hello)).toBe(false);
    expect(await server.push.toSession("nobody", method, hello)).toBe(false);
    expect(await server.push.sessions()).toEqual([await sessionOf(two)]);
    await two.close();
  });

  test("a notification without parameters has none on the wire", async () => {
    const server = toolServer();
    const client = await cell.connect(server);
    await server.push.toSession(await sessionOf(client), "notifications/tools/list_changed");
    await settled(client);
    expect(client.notifications("notifications/tools/list_changed")).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
    ]);
    await client.close();
  });

  test("the _meta of a pushed notification is kept", async () => {
    const server = toolServer();
    const client = await cell.connect(server);
    const params = { ...hello, _meta: { "example.com/trace": "t" } };
    await server.push.broadcast(method, params);
    await settled(client);
    expect(client.notifications(method)).toEqual([{ jsonrpc: "2.0", method, params }]);
    await client.close();
  });

  test("list_changed of a session carries no subscription id", async () => {
    const server = toolServer();
    const client = await cell.connect(server);
    server.tool("second", {}, () => "second");
    await settled(client);
    const told = client.notifications("notifications/tools/list_changed");
    expect(told).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    await client.close();
  });

  test("nothing is pushed before the reply to initialize", async () => {
    const server = toolServer();
    const client = await cell.connect(server, { handshake: false });
    server.tool("early", {}, () => "early");
    expect(await server.push.broadcast(method, hello)).toBe(0);
    const opening = client.open();
    for (let at = 0; at < 20; at++) {
      server.tool(`during-${at}`, {}, () => "x");
      await Promise.resolve();
    }
    await opening;
    expect(client.received[0]).toHaveProperty("result.protocolVersion", cell.revision);
    await client.close();
  });
});

describe("legacy sessions on a pipe", () => {
  const legacy = protocolRevisions.filter(({ era }) => era === "legacy");
  test.each(legacy)(
    "a server never says notifications/cancelled for what the client asked · $date [CANCEL-REF-LEGACY]",
    async ({ date: revision }) => {
      const server = toolServer();
      server.tool("never", {}, () => new Promise(() => {}));
      const peer = new PipePeer(server, { revision });
      await peer.client.open();
      peer.start("tools/call", { name: "never" }, "cut off");
      peer.start("tools/call", { name: "never" }, "cancelled");
      peer.client.notify("notifications/cancelled", { requestId: "cancelled" });
      await settled(peer.client);
      await peer.pipe.end(0);
      expect(peer.written.filter((message) => "method" in message)).toEqual([]);
    },
  );

  test("nothing overtakes the reply to initialize, even when middleware holds it back", async () => {
    const server = toolServer();
    const gate = deferred();
    server.use(async (request, _ctx, next) => {
      const answer = await next();
      if (request.method === "initialize") await gate.promise;
      return answer;
    });
    const { client, written } = new PipePeer(server, { revision: "2025-11-25" });
    const opening = client.open();
    await nextTurn();
    client.send({ jsonrpc: "2.0", id: "early", method: "ping" });
    await client.waitFor((message) => "id" in message && message.id === "early");
    server.tool("second", {}, () => "second");
    await server.push.broadcast(method, hello);
    await nextTurn();
    expect(written.filter((message) => "method" in message)).toEqual([]);
    gate.resolve();
    await opening;
    server.tool("third", {}, () => "third");
    await nextTurn();
    expect(client.notifications("notifications/tools/list_changed")).toHaveLength(1);
    await client.close();
  });

  test("a failed initialize makes no session", async () => {
    const server = toolServer();
    const client = await connect(server, { revision: "2025-11-25", handshake: false });
    await expect(client.request("initialize", {})).rejects.toMatchObject({ code: -32602 });
    expect(await server.push.sessions()).toEqual([]);
    await client.close();
  });

  test("modern clients are no sessions: they count as streams only while they listen", async () => {
    const server = toolServer();
    const client = await connect(server, { revision: "2026-07-28" });
    await client.request("tools/list");
    expect(await server.push.count()).toBe(0);
    await listen(client, { toolsListChanged: true }, "sub");
    expect(await server.push.count()).toBe(1);
    expect(await server.push.sessions()).toEqual([]);
    expect(await server.push.broadcast(method, hello)).toBe(0);
    await settled(client);
    expect(client.notifications(method)).toEqual([]);
    await client.close();
  });

  test("attach() with a newer stream of the same session is not undone by the end of the older one", async () => {
    const server = toolServer();
    server.resource("note:///a", {}, () => "a");
    const connection = new Connection({ transport: "test", session: "s1" });
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    await server.handle({ jsonrpc: "2.0", id: 1, method: "initialize", params }, { connection });
    const [older, newer] = [new HeldStream(), new HeldStream()];
    const detachOlder = portOf(server).attach(connection, older);
    const detachNewer = portOf(server).attach(connection, newer);
    detachOlder();
    expect(await server.push.sessions()).toEqual(["s1"]);
    expect(await server.push.toSession("s1", method, hello)).toBe(true);
    const uri = "note:///a";
    const subscribe = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri } } as const;
    expect(await server.handle(subscribe, { connection })).toMatchObject({ id: 2, result: {} });
    expect(await server.resources.updated(uri)).toBe(1);
    expect(older.written).toHaveLength(0);
    expect(newer.written.map(inShort)).toEqual(["message", `resources/updated ${uri}`]);
    detachNewer();
    expect(await server.push.isSubscribed(uri)).toBe(false);
    expect(await server.push.sessions()).toEqual([]);
    expect(await server.push.count()).toBe(0);
  });
});
