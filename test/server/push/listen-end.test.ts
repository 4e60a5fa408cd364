// How a subscription ends: by the client, by the server, and what may come in between.
import { McpServer, type RequestId } from "halyard";
import { describe, expect, test } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import {
  acknowledged,
  isAck,
  listen,
  paramsOf,
  settled,
  stampedWith,
  startListening,
  stopListening,
  subscriptionIdKey,
  toldTo,
} from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { PipePeer } from "../../support/pipe.ts";
import { edges, listenOver, serve } from "../../support/sessions.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

function toolServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.resource("note:///a", {}, () => "a");
  return server;
}

describeMatrix("end of a subscription", { eras: ["modern"] }, (cell) => {
  test.skipIf(cell.transport === "http")(
    "nothing more is sent for a subscription that the client has cancelled [SUB-CANCEL-SERVER-STOP, STDIO-MODERN-CANCEL-SILENT]",
    async () => {
      const server = toolServer();
      const client = await cell.connect(server);
      await listen(client, { toolsListChanged: true }, "stays");
      await listen(client, { toolsListChanged: true }, "goes");
      stopListening(client, "goes");
      await settled(client);
      server.tool("second", {}, () => "second");
      await settled(client);
      expect(toldTo(client.received, "stays")).toEqual(["tools/list_changed"]);
      expect(toldTo(client.received, "goes")).toEqual([]);
      await client.close();
      expect(stampedWith(client.received, "goes")).toHaveLength(1);
      expect(client.received.filter((message) => "id" in message && message.id === "goes")).toEqual([]);
      const cancelled = client.notifications("notifications/cancelled").map(paramsOf);
      expect(cancelled.map(({ requestId }) => requestId)).toEqual(["stays"]);
    },
  );

  test.skipIf(cell.transport === "http")(
    "a server that shuts down answers each listen request and says that it is cancelled [SUB-GRACEFUL-RESULT, SUB-GRACEFUL-META, SUB-SERVER-CANCELLED, CANCEL-REF-SERVER-MODERN]",
    async () => {
      const server = toolServer();
      const client = await cell.connect(server);
      const ids: RequestId[] = [0, "", "9", 9];
      for (const id of ids) await listen(client, { toolsListChanged: true }, id);
      await client.close();
      for (const id of ids) {
        const replies = client.received.filter((message) => "id" in message && message.id === id);
        expect(replies).toEqual([
          {
            jsonrpc: "2.0",
            id,
            result: { resultType: "complete", _meta: expect.objectContaining({ [subscriptionIdKey]: id }) },
          },
        ]);
      }
      const cancelled = client.notifications("notifications/cancelled").map(paramsOf);
      expect(cancelled.map(({ requestId }) => requestId)).toEqual(ids);
      expect(await server.push.count()).toBe(0);
    },
  );
});

describe("end of a server while it asks who may subscribe", () => {
  function hesitant(): { server: McpServer; asked: Promise<void>; allow: () => void } {
    const [asked, verdict] = [deferred(), deferred<boolean>()];
    const authorizeSubscription = (): Promise<boolean> => (asked.resolve(), verdict.promise);
    const server = new McpServer({ name: "test", version: "1.0.0" }, { authorizeSubscription });
    server.resource("note:///a", {}, () => "a");
    return { server, asked: asked.promise, allow: () => verdict.resolve(true) };
  }
  const wanted = { resourceSubscriptions: ["note:///a"] };

  test("on a pipe, a subscription that is authorized only then is opened, and ended at once [SUB-GRACEFUL-RESULT]", async () => {
    const { server, asked, allow } = hesitant();
    const { client, pipe } = new PipePeer(server);
    startListening(client, wanted, "late");
    await asked;
    const drained = pipe.drain(60_000);
    allow();
    await drained;
    const own = stampedWith(client.received, "late").map((message) => ("id" in message ? "result" : "ack"));
    expect(own).toEqual(["ack", "result"]);
    await pipe.end(0);
  });

  test.each(edges)(
    "over HTTP, a subscription that is authorized only then is opened, and ended at once [SUB-GRACEFUL-RESULT]: %s",
    async (edge) => {
      const { server, asked, allow } = hesitant();
      const served = await serve(server, { graceMs: 60_000 }, edge);
      const opened = listenOver(served.url, wanted, { id: "late" });
      await asked;
      const closed = served.close();
      allow();
      await (await opened).message((message) => message["id"] === "late");
      await closed;
    },
  );
});

describe("end of a subscription on a pipe", () => {
  test("a subscription that is ended and cancelled in the same breath is seen to close once", async () => {
    const { server, events } = makeServer();
    server.tool("first", {}, () => "first");
    const peer = new PipePeer(server);
    await listen(peer.client, { toolsListChanged: true }, "sub");
    const { connection } = peer.pipe;
    connection.endSubscriptions("sub");
    connection.inFlight.cancelAll("The test has gone");
    await peer.pipe.end(0);
    const states = events.flatMap((event) => (event.type === "subscription" ? [event.state] : []));
    expect(states).toEqual(["opened", "closed"]);
  });

  test("notifications/cancelled is sent for nothing but subscriptions [SUB-SERVER-CANCELLED-ONLY, CANCEL-REF-SERVER-MODERN]", async () => {
    const server = toolServer();
    server.tool("never", {}, () => new Promise(() => {}));
    const peer = new PipePeer(server);
    peer.start("tools/call", { name: "never" }, "cut off");
    peer.start("tools/call", { name: "never" }, "cancelled");
    peer.client.notify("notifications/cancelled", { requestId: "cancelled" });
    await peer.client.request("tools/list");
    await peer.pipe.end(0);
    expect(peer.written.map((message) => ("method" in message ? message.method : message.id))).toEqual([1]);
  });

  test("a change that is published while the acknowledgement is being written comes after it [SUB-ACK-FIRST, SUB-ACK-BEFORE-NOTIFS]", async () => {
    const server = toolServer();
    const peer = new PipePeer(server);
    peer.onWrite = (message) => {
      if (isAck(message)) void server.push.publish("notifications/tools/list_changed");
    };
    // Published after the request was taken and before the acknowledgement could leave.
    startListening(peer.client, { toolsListChanged: true }, 1);
    void server.push.publish("notifications/tools/list_changed");
    await nextTurn();
    expect(peer.written[0]).toMatchObject({ method: acknowledged });
    expect(toldTo(peer.written, 1).length).toBeGreaterThan(0);
    await peer.pipe.end(0);
  });

  test("nothing follows a cancellation, not even a change of the same turn [SUB-CANCEL-SERVER-STOP]", async () => {
    const server = toolServer();
    const peer = new PipePeer(server);
    await listen(peer.client, { toolsListChanged: true }, 1);
    const before = peer.written.length;
    stopListening(peer.client, 1);
    expect(await server.push.publish("notifications/tools/list_changed")).toBe(0);
    await nextTurn();
    expect(peer.written.slice(before)).toEqual([]);
    await peer.pipe.end(0);
    expect(peer.written.slice(before)).toEqual([]);
  });

  test("a subscription that is cancelled as the pipe ends is not cancelled again by the server [SUB-CANCEL-SERVER-STOP]", async () => {
    const server = toolServer();
    const peer = new PipePeer(server);
    await listen(peer.client, { toolsListChanged: true }, 1);
    const before = peer.written.length;
    stopListening(peer.client, 1);
    await peer.pipe.end(0);
    expect(peer.written.slice(before)).toEqual([]);
  });

  test("a listen request that is cancelled before it began is not acknowledged [SUB-CANCEL-SERVER-STOP, STDIO-MODERN-CANCEL-SILENT]", async () => {
    const server = toolServer();
    const gate = deferred();
    server.use(async (_request, _ctx, next) => {
      await gate.promise;
      return next();
    });
    const peer = new PipePeer(server);
    startListening(peer.client, { toolsListChanged: true }, 1);
    stopListening(peer.client, 1);
    gate.resolve();
    await nextTurn();
    expect(peer.written).toEqual([]);
    expect(await server.push.count()).toBe(0);
    await peer.pipe.end(0);
  });

  test("the closing result is the last message of the subscription but for its cancellation [SUB-GRACEFUL-RESULT]", async () => {
    const server = toolServer();
    const peer = new PipePeer(server);
    await listen(peer.client, { toolsListChanged: true }, 1);
    const ending = peer.pipe.end(100);
    server.tool("late", {}, () => "late");
    void server.push.publish("notifications/tools/list_changed");
    await ending;
    await server.push.publish("notifications/tools/list_changed");
    const kinds = peer.written.map((message) => ("method" in message ? message.method : message.id));
    expect(kinds.slice(-2)).toEqual([1, "notifications/cancelled"]);
    expect(peer.written.at(-1)).not.toHaveProperty("params._meta");
  });

  test("a pipe that has ended leaves nothing behind in the hub", async () => {
    const server = toolServer();
    const peer = new PipePeer(server);
    for (let id = 0; id < 20; id++) {
      await listen(peer.client, { toolsListChanged: true, resourceSubscriptions: ["note:///a"] }, id);
    }
    expect(await server.push.count()).toBe(20);
    expect(await server.push.isSubscribed("note:///a")).toBe(true);
    await peer.pipe.end(0);
    await until(async () => (await server.push.count()) === 0);
    expect(await server.push.isSubscribed("note:///a")).toBe(false);
    expect(await server.resources.updated("note:///a")).toBe(0);
  });
});
