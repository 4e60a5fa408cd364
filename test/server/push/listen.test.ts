// subscriptions/listen: its acknowledgement, and the notifications that each subscription receives.
import { type Context, McpServer, type RequestId } from "halyard";
import { expect, test } from "vitest";
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
  subscriptionOf,
  toldTo,
} from "../../support/listen.ts";
import { describeMatrix, pipes } from "../../support/matrix.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";

function fullServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.prompt("greet", {}, () => "Hello");
  server.resource("note:///a", {}, () => "a");
  server.resource("note:///b", {}, () => "b");
  return server;
}

/** Changes something of every kind, one kind after the other. */
async function changeEverything(server: McpServer): Promise<void> {
  server.tool("second", {}, () => "second");
  await Promise.resolve();
  server.prompt("bye", {}, () => "Bye");
  await Promise.resolve();
  server.resource("note:///c", {}, () => "c");
  await Promise.resolve();
  await server.resources.updated("note:///a");
  await server.resources.updated("note:///b");
}

describeMatrix("subscriptions/listen", { eras: ["modern"] }, (cell) => {
  test("an open subscription keeps nothing of what its client has said of itself", async () => {
    let told: unknown;
    let open: Context | undefined;
    const authorizeSubscription = (_: string, ctx: Context): boolean => {
      told = { client: ctx.client, capabilities: ctx.clientCapabilities };
      open = ctx;
      return true;
    };
    const server = new McpServer({ name: "test", version: "1.0.0" }, { authorizeSubscription });
    server.resource("note:///a", {}, () => "a");
    const client = await cell.connect(server, { capabilities: { sampling: {} } });
    await listen(client, { resourceSubscriptions: ["note:///a"] }, "one");
    expect(told).toMatchObject({ client: { name: expect.any(String) }, capabilities: { sampling: {} } });
    expect([open?.client, open?.clientCapabilities]).toEqual([undefined, {}]);
    await client.close();
  });

  test("several subscriptions on one pipe each get what they asked for and nothing else [SUB-OPT-IN, SUB-CONCURRENT, SUB-CONCURRENT-FANOUT, SUB-ID-TAG, LIST-CHANGED-SEND-MODERN, RES-UPDATED-MODERN]", async () => {
    const server = fullServer();
    const client = await cell.connect(server);
    await listen(client, { toolsListChanged: true }, "tools");
    await listen(client, { promptsListChanged: true, resourceSubscriptions: ["note:///b"] }, "mixed");
    await listen(client, { toolsListChanged: true, resourcesListChanged: true }, "lists");
    await listen(client, { toolsListChanged: false, resourceSubscriptions: ["note:///zzz"] }, "none");
    await changeEverything(server);
    await settled(client);
    expect(toldTo(client.received, "tools")).toEqual(["tools/list_changed"]);
    expect(toldTo(client.received, "mixed")).toEqual(["prompts/list_changed", "resources/updated note:///b"]);
    expect(toldTo(client.received, "lists")).toEqual(["tools/list_changed", "resources/list_changed"]);
    expect(toldTo(client.received, "none")).toEqual([]);
    const unstamped = client.received.filter(
      (message) => "method" in message && subscriptionOf(message) === undefined,
    );
    expect(unstamped).toEqual([]);
    await client.close();
  });

  test("the acknowledgement is the first message of each subscription [SUB-ACK-FIRST, SUB-ACK-BEFORE-NOTIFS, SUB-ID-TAG]", async () => {
    const server = fullServer();
    const client = await cell.connect(server);
    const ids = ["one", "two", "three"];
    const filter = { toolsListChanged: true, resourceSubscriptions: ["note:///a"] };
    for (const id of ids) {
      startListening(client, filter, id);
      // Changes race with the acknowledgement on purpose.
      server.tool(`tool-${id}`, {}, () => id);
      void server.resources.updated("note:///a");
    }
    await client.waitFor((message) => isAck(message) && subscriptionOf(message) === "three");
    await server.resources.updated("note:///a");
    await settled(client);
    for (const id of ids) {
      const [first, ...rest] = stampedWith(client.received, id);
      expect(first).toMatchObject({ method: acknowledged });
      expect(rest.length).toBeGreaterThan(0);
      expect(rest.filter(isAck)).toEqual([]);
    }
    await client.close();
  });

  test.skipIf(cell.transport === "http")(
    "each copy is stamped with the id of its listen request verbatim: 0, an empty string, a number and its digits [SUB-ID-VALUE, SUB-ID-TAG, SUB-CONCURRENT-FANOUT]",
    async () => {
      const server = fullServer();
      const client = await cell.connect(server);
      const ids: RequestId[] = [0, "", "42", 42];
      for (const id of ids) await listen(client, { toolsListChanged: true }, id);
      server.tool("second", {}, () => "second");
      await settled(client);
      const stamps = client.notifications("notifications/tools/list_changed").map(subscriptionOf);
      expect(stamps).toEqual(ids);
      await client.close();
    },
  );

  test("an update is told as the URI and the stamp [RES-UPDATED-MODERN]", async () => {
    const server = fullServer();
    const client = await cell.connect(server);
    await listen(client, { resourceSubscriptions: ["note:///a", "note:///a"] }, 7);
    expect(await server.resources.updated("note:///a")).toBe(1);
    await settled(client);
    expect(client.notifications("notifications/resources/updated")).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/resources/updated",
        params: { uri: "note:///a", _meta: { [subscriptionIdKey]: 7 } },
      },
    ]);
    await client.close();
  });

  test("a reply and progress carry no subscription id [SUB-ID-ONLY-ON-STREAM]", async () => {
    const server = fullServer();
    server.tool("work", {}, (_, ctx) => {
      ctx.progress(1);
      ctx.log("error", "working");
      return "done";
    });
    const client = await cell.connect(server);
    await listen(client, { toolsListChanged: true }, "sub");
    const _meta = { progressToken: "sub", "io.modelcontextprotocol/logLevel": "debug" };
    const result = await client.request("tools/call", { name: "work", _meta });
    expect(result["_meta"]).not.toHaveProperty(subscriptionIdKey);
    const told = [
      ...client.notifications("notifications/progress"),
      ...client.notifications("notifications/message"),
    ];
    expect(told).toHaveLength(2);
    expect(told.map(subscriptionOf)).toEqual([undefined, undefined]);
    await client.close();
  });

  test("the acknowledgement leaves out false and unknown members, and keeps the URIs [SUB-ACK-SUBSET]", async () => {
    const client = await cell.connect(fullServer());
    const asked = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ["note:///b", "note:///a", "note:///b"],
      somethingNew: true,
      somethingElse: { deep: 1 },
    };
    expect(await listen(client, asked, "sub")).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["note:///b", "note:///a"],
    });
    await client.close();
  });

  test("the acknowledgement leaves out what the server does not offer [SUB-ACK-SUBSET, SUB-OPT-IN]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("first", {}, () => "first");
    const client = await cell.connect(server);
    const all = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ["note:///a"],
    };
    expect(await listen(client, all, "sub")).toEqual({ toolsListChanged: true });
    // What was not acknowledged is not told, not even once the server offers it.
    server.resource("note:///a", {}, () => "a");
    server.prompt("greet", {}, () => "Hello");
    expect(await server.resources.updated("note:///a")).toBe(0);
    await settled(client);
    expect(toldTo(client.received, "sub")).toEqual([]);
    await client.close();
  });

  test("a subscription may ask for nothing: it is acknowledged, open, and told nothing [SUB-ACK-SUBSET, SUB-OPT-IN]", async () => {
    const server = fullServer();
    const client = await cell.connect(server);
    expect(await listen(client, {}, "empty")).toEqual({});
    expect(await listen(client, { promptsListChanged: false }, "off")).toEqual({});
    expect(await server.push.count()).toBe(2);
    await changeEverything(server);
    await settled(client);
    expect(toldTo(client.received, "empty")).toEqual([]);
    expect(toldTo(client.received, "off")).toEqual([]);
    await client.close();
  });

  const malformed: [string, unknown][] = [
    ["no filter", undefined],
    ["null", null],
    ["a list", []],
    ["a string", "toolsListChanged"],
    ["a flag that is not a boolean", { toolsListChanged: "true" }],
    ["a flag that is null", { toolsListChanged: null }],
    ["a flag that is 1", { promptsListChanged: 1 }],
    ["URIs that are one string", { resourceSubscriptions: "note:///a" }],
    ["URIs that are true", { resourceSubscriptions: true }],
    ["URIs with a number among them", { resourceSubscriptions: ["note:///a", 1] }],
    ["URIs as an object", { resourceSubscriptions: { 0: "note:///a" } }],
  ];
  test.each(malformed)("a malformed filter is invalid params: %s", async (_, notifications) => {
    const server = fullServer();
    const client = await cell.connect(server);
    startListening(client, notifications, "bad");
    const reply = await client.waitFor((message) => "id" in message && message.id === "bad");
    expect(reply).toMatchObject({ error: { code: -32602 } });
    expect(client.received.filter(isAck)).toEqual([]);
    expect(await server.push.count()).toBe(0);
    await client.close();
  });

  test("a server that offers nothing to listen to has no such method [SUB-UNSUPPORTED-32601]", async () => {
    const client = await cell.connect(new McpServer({ name: "test", version: "1.0.0" }));
    startListening(client, { toolsListChanged: true }, "sub");
    const reply = await client.waitFor((message) => "id" in message && message.id === "sub");
    expect(reply).toMatchObject({ error: { code: -32601 } });
    await client.close();
  });

  test.skipIf(cell.transport === "http")(
    "one connection may have so many subscriptions and no more",
    async () => {
      const server = new McpServer({ name: "test", version: "1.0.0" }, { limits: { maxSubscriptions: 2 } });
      server.tool("first", {}, () => "first");
      const client = await cell.connect(server);
      await listen(client, { toolsListChanged: true }, "a");
      await listen(client, { toolsListChanged: true }, "b");
      startListening(client, { toolsListChanged: true }, "c");
      const reply = await client.waitFor((message) => "id" in message && message.id === "c");
      expect(reply).toMatchObject({ error: { code: -32600 } });
      stopListening(client, "a");
      await settled(client);
      expect(await listen(client, { toolsListChanged: true }, "d")).toEqual({ toolsListChanged: true });
      await client.close();
    },
  );

  test("one subscription may name so many URIs and no more", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { limits: { maxSubscribedKeys: 2 } });
    server.resource("note:///a", {}, () => "a");
    const client = await cell.connect(server);
    startListening(client, { resourceSubscriptions: ["note:///a", "note:///b", "note:///c"] }, "over");
    const reply = await client.waitFor((message) => "id" in message && message.id === "over");
    expect(reply).toMatchObject({ error: { code: -32602 } });
    const two = { resourceSubscriptions: ["note:///a", "note:///b"] };
    expect(await listen(client, two, "at")).toEqual(two);
    await client.close();
  });

  test("an extension's filter member asks for its notification, by key", async () => {
    allowBeyondSchema("/params/notifications/jobIds", "notifications/com.example/job");
    const server = fullServer();
    server.extension("com.example/jobs", {
      listens: { jobIds: { notification: "notifications/com.example/job", kind: "keys" } },
    });
    const client = await cell.connect(server, {
      capabilities: { extensions: { "com.example/jobs": {} } },
    });
    expect(await listen(client, { jobIds: ["j1"] }, "sub")).toEqual({ jobIds: ["j1"] });
    const method = "notifications/com.example/job";
    expect(await server.push.publish(method, "j1", { jobId: "j1", state: "done" })).toBe(1);
    expect(await server.push.publish(method, "j2", { jobId: "j2", state: "done" })).toBe(0);
    await settled(client);
    expect(client.notifications(method).map(paramsOf)).toEqual([
      { jobId: "j1", state: "done", _meta: { [subscriptionIdKey]: "sub" } },
    ]);
    await client.close();
  });

  test("the server keeps nothing of a subscription that has ended: the same id starts anew [SUB-NO-STATE]", async () => {
    const server = fullServer();
    const client = await cell.connect(server);
    await listen(client, { toolsListChanged: true }, 5);
    stopListening(client, 5);
    await settled(client);
    startListening(client, { promptsListChanged: true }, 5);
    await client.waitFor((message) => isAck(message) && !("toolsListChanged" in filterOf(message)));
    await changeEverything(server);
    await settled(client);
    expect(toldTo(client.received, 5)).toEqual(["prompts/list_changed"]);
    await client.close();
  });
});

function filterOf(message: Parameters<typeof paramsOf>[0]): object {
  return paramsOf(message)["notifications"] as object;
}

describeMatrix("subscriptions/listen", { eras: ["legacy"] }, (cell) => {
  test("a legacy client has no such method [SUB-LEGACY-NONE]", async () => {
    const client = await cell.connect(fullServer());
    const request = client.request("subscriptions/listen", { notifications: { toolsListChanged: true } });
    await expect(request).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });
});

describeMatrix("subscriptions/listen", { eras: ["modern"], transports: pipes }, (cell) => {
  test("a server that serves only legacy clients has no such method", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { mode: "stateful" });
    server.tool("first", {}, () => "first");
    const client = await cell.connect(server);
    const request = client.request("subscriptions/listen", { notifications: { toolsListChanged: true } });
    await expect(request).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });
});
