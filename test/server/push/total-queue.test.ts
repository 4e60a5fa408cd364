// What waits for everybody together is bounded: the one that has been waited for longest is given up first.
import { McpServer } from "halyard";
import { expect, test } from "vitest";
import { listen } from "../../support/listen.ts";
import { recordingLogger } from "../../support/log.ts";
import { PipePeer } from "../../support/pipe.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";
import { edges, methodsOf, serve, SessionClient } from "../../support/sessions.ts";

const limits = { maxTotalQueueBytes: 10_000 };
const message = { level: "info", data: "x".repeat(4000) };

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger(), limits });
  server.tool("t", {}, () => "");
  server.resource("note:///a", {}, () => "a");
  return server;
}

test.each(edges)(
  "what waits for sessions without a stream has limits.maxTotalBytes: the first is told to read again, the others get all · %s",
  async (edge) => {
    allowBeyondSchema("notifications/end");
    const server = makeServer();
    const served = await serve(server, { limits: { maxTotalBytes: 10_000 } }, edge);
    const clients = [];
    for (let at = 0; at < 3; at++) clients.push(await SessionClient.open(served));
    await clients[0]?.request("resources/subscribe", { uri: "note:///a" });
    for (const { id } of clients) await server.push.toSession(id, "notifications/message", message);
    const told = [];
    for (const client of clients) {
      const stream = await client.get();
      await server.push.toSession(client.id, "notifications/end");
      await stream.message(({ method }) => method === "notifications/end");
      told.push(methodsOf(stream.messages).slice(0, -1));
      stream.cut();
    }
    expect(told).toEqual([
      ["tools/list_changed", "resources/list_changed", "resources/updated note:///a"],
      ["message"],
      ["message"],
    ]);
  },
);

test.each(edges)(
  "what waits for a session without a stream has limits.maxStreamBytes, and past it the client is notified to read everything again · %s",
  async (edge) => {
    allowBeyondSchema("notifications/end");
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("t", {}, () => "");
    const served = await serve(server, { limits: { maxStreamBytes: 100_000 } }, edge);
    const told = [];
    for (const count of [20, 30]) {
      const client = await SessionClient.open(served);
      for (let at = 0; at < count; at++) {
        await server.push.toSession(client.id, "notifications/message", message);
      }
      const stream = await client.get();
      await server.push.toSession(client.id, "notifications/end");
      await stream.message(({ method }) => method === "notifications/end");
      const methods = methodsOf(stream.messages);
      told.push({ first: methods[0], count: methods.length });
      stream.cut();
    }
    expect(told).toEqual([
      { first: "message", count: 21 },
      { first: "tools/list_changed", count: expect.any(Number) as number },
    ]);
    expect(told[1]?.count).toBeLessThan(30);
  },
);

test("a slow listener counts too, and the one for whom most waits is disconnected", async () => {
  const server = makeServer();
  const peers = [new PipePeer(server), new PipePeer(server), new PipePeer(server)];
  for (const [id, peer] of peers.entries()) {
    await listen(peer.client, { resourceSubscriptions: ["note:///a"] }, `${id}${"i".repeat(2000)}`);
    peer.slow = true;
    await server.resources.updated("note:///a");
  }
  for (const peer of peers.slice(0, 2)) expect(peer.destroyed).toBeUndefined();
  // Each waits for one message already; three of 4,000 bytes more are too much for all of them together.
  const legacy = new PipePeer(server, { revision: "2025-11-25" });
  await legacy.client.open();
  legacy.slow = true;
  for (let at = 0; at < 3; at++) await server.push.broadcast("notifications/message", message);
  expect(peers.map(({ destroyed }) => destroyed)).toEqual([undefined, undefined, undefined]);
  expect(legacy.destroyed).toBeDefined();
  for (const peer of [...peers, legacy]) await peer.pipe.end(0);
});

test.each(edges)(
  "a broadcast that is larger than a log keeps reaches those who are connected, and tells the others to read again · %s",
  async (edge) => {
    allowBeyondSchema("notifications/large");
    const server = makeServer();
    const served = await serve(server, {}, edge);
    const [here, away] = [await SessionClient.open(served), await SessionClient.open(served)];
    const stream = await here.get();
    await server.push.broadcast("notifications/large", { data: "x".repeat(300_000) });
    await stream.message(({ method }) => method === "notifications/large");
    const later = await away.get();
    expect(methodsOf(await later.count(2))).toEqual(["tools/list_changed", "resources/list_changed"]);
  },
);
