// resources/updated reaches only subscribers of the URI, and its cost does not depend on other clients.
import { McpServer } from "halyard";
import type { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { describe as inShort, listen, settled, toldTo } from "../../support/listen.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { PipePeer } from "../../support/pipe.ts";

function noteServer(limits: { maxSubscribedKeys?: number; maxSubscriptions?: number } = {}): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits });
  server.resource("note:///a", {}, () => "a");
  server.resource("note:///b", {}, () => "b");
  return server;
}

function updates(client: TestClient): string[] {
  return client.notifications("notifications/resources/updated").map(inShort);
}

describeMatrix("resources/updated", { eras: ["legacy"] }, (cell) => {
  test("a session is notified of the resources that it subscribed to, until it unsubscribes [RES-UPDATED-LEGACY]", async () => {
    const server = noteServer();
    const [one, two] = [await cell.connect(server), await cell.connect(server)];
    expect(await one.request("resources/subscribe", { uri: "note:///a" })).toEqual({});
    expect(await server.push.isSubscribed("note:///a")).toBe(true);
    expect(await server.push.isSubscribed("note:///b")).toBe(false);
    expect(await server.resources.updated("note:///a")).toBe(1);
    expect(await server.resources.updated("note:///b")).toBe(0);
    await settled(one);
    await settled(two);
    expect(one.notifications("notifications/resources/updated")).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note:///a" } },
    ]);
    expect(updates(two)).toEqual([]);
    expect(await one.request("resources/unsubscribe", { uri: "note:///a" })).toEqual({});
    expect(await server.resources.updated("note:///a")).toBe(0);
    expect(await server.push.isSubscribed("note:///a")).toBe(false);
    await settled(one);
    expect(updates(one)).toHaveLength(1);
    await one.close();
    await two.close();
  });

  test("subscribing twice is one subscription, and unsubscribing from nothing is harmless", async () => {
    const server = noteServer();
    const client = await cell.connect(server);
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.request("resources/subscribe", { uri: "note:///a" });
    expect(await server.resources.updated("note:///a")).toBe(1);
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    await client.request("resources/unsubscribe", { uri: "note:///never" });
    await settled(client);
    expect(updates(client)).toHaveLength(1);
    await client.close();
  });

  test("the subscriptions of a session end with it", async () => {
    const server = noteServer();
    const client = await cell.connect(server);
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.close();
    expect(await server.push.isSubscribed("note:///a")).toBe(false);
    expect(await server.resources.updated("note:///a")).toBe(0);
  });

  test.each([[undefined], [1], [""], ["not a uri"], ["file:///a/../../etc/passwd"]])(
    "a URI that is none is invalid params: %j",
    async (uri) => {
      const client = await cell.connect(noteServer());
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        await expect(client.request(method, { uri })).rejects.toMatchObject({ code: -32602 });
      }
      await client.close();
    },
  );

  test("a session may subscribe to so many resources and no more, and to one of them again", async () => {
    const server = noteServer({ maxSubscribedKeys: 2 });
    const client = await cell.connect(server);
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.request("resources/subscribe", { uri: "note:///b" });
    expect(await client.request("resources/subscribe", { uri: "note:///a" })).toEqual({});
    const third = client.request("resources/subscribe", { uri: "note:///c" });
    await expect(third).rejects.toMatchObject({ code: -32600 });
    await client.request("resources/unsubscribe", { uri: "note:///b" });
    expect(await client.request("resources/subscribe", { uri: "note:///c" })).toEqual({});
    await client.close();
  });

  test("a server without resources, or without sessions, has nothing to subscribe to", async () => {
    const bare = new McpServer({ name: "test", version: "1.0.0" });
    const stateless = new McpServer({ name: "test", version: "1.0.0" }, { mode: "stateless" });
    stateless.resource("note:///a", {}, () => "a");
    const reasons = ["This server has no resources", "This connection cannot receive notifications"];
    for (const [at, server] of [bare, stateless].entries()) {
      const client = await cell.connect(server);
      const request = client.request("resources/subscribe", { uri: "note:///a" });
      const message = `${reasons[at]}: resources/subscribe is not available`;
      await expect(request).rejects.toMatchObject({ code: -32601, message });
      await client.close();
    }
  });
});

describeMatrix("resources/updated", { eras: ["modern"] }, (cell) => {
  test("resources.subscribe is declared, and means that a listen filter may name URIs [RES-SUBSCRIBE-CAP-MODERN, RES-UPDATED-MODERN]", async () => {
    const server = noteServer();
    const client = await cell.connect(server);
    const { capabilities } = await client.request("server/discover");
    expect(capabilities).toMatchObject({ resources: { subscribe: true } });
    const filter = { resourceSubscriptions: ["note:///a"] };
    expect(await listen(client, filter, "sub")).toEqual(filter);
    expect(await server.push.isSubscribed("note:///a")).toBe(true);
    await server.resources.updated("note:///b");
    await server.resources.updated("note:///a");
    await settled(client);
    expect(toldTo(client.received, "sub")).toEqual(["resources/updated note:///a"]);
    expect(updates(client)).toHaveLength(1);
    await client.close();
  });

  test("subscribe and unsubscribe are gone [RES-SUBSCRIBE-RPC-REMOVED]", async () => {
    const client = await cell.connect(noteServer());
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      await expect(client.request(method, { uri: "note:///a" })).rejects.toMatchObject({ code: -32601 });
    }
    await client.close();
  });

  test("a resource that is only matched by a template, or by nothing, can be followed", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.resourceTemplate("note:///{id}", {}, ({ params }) => params.id);
    const client = await cell.connect(server);
    await listen(client, { resourceSubscriptions: ["note:///7", "other:///x"] }, "sub");
    await server.resources.updated("note:///7");
    await server.resources.updated("other:///x");
    await settled(client);
    expect(toldTo(client.received, "sub")).toEqual([
      "resources/updated note:///7",
      "resources/updated other:///x",
    ]);
    await client.close();
  });
});

describe("the cost of an update", () => {
  test("one URI among 10,000 subscriptions costs the writes of its own subscribers", async () => {
    const server = noteServer({ maxSubscribedKeys: 20_000, maxSubscriptions: 10_000 });
    const crowd = new PipePeer(server);
    for (let id = 0; id < 9_998; id++) {
      crowd.client.send({
        jsonrpc: "2.0",
        id,
        method: "subscriptions/listen",
        ...crowd.client.withMeta({ notifications: { resourceSubscriptions: [`note:///${id}`] } }),
      });
    }
    const one = new PipePeer(server);
    await listen(one.client, { resourceSubscriptions: ["note:///a", "note:///77"] }, "one");
    const legacy = new PipePeer(server, { revision: "2025-11-25" });
    await legacy.client.open();
    await legacy.client.request("resources/subscribe", { uri: "note:///77" });
    expect(await server.push.count()).toBe(10_000);
    const before = [crowd, one, legacy].map(({ written }) => written.length);
    expect(await server.resources.updated("note:///a")).toBe(1);
    expect(await server.resources.updated("note:///77")).toBe(3);
    expect(await server.resources.updated("note:///nobody")).toBe(0);
    const after = [crowd, one, legacy].map(({ written }, at) => written.length - (before[at] ?? 0));
    expect(after).toEqual([1, 2, 1]);
    expect(toldTo(crowd.written, 77)).toEqual(["resources/updated note:///77"]);
    for (const peer of [crowd, one, legacy]) await peer.pipe.end(0);
    expect(await server.push.count()).toBe(0);
  });
});
