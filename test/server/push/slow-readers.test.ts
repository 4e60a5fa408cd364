// A slow reader: its waiting messages merge, are bounded in bytes, and delay no other reader.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { describe as inShort, listen, paramsOf, subscriptionOf, toldTo } from "../../support/listen.ts";
import { PipePeer } from "../../support/pipe.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";
import { nextTurn } from "../../support/turns.ts";

const bigLimit = { maxQueueBytes: 1024 * 1024 };

function noteServer(limits: { maxQueueBytes: number } = bigLimit): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits });
  server.tool("first", {}, () => "first");
  server.prompt("greet", {}, () => "Hello");
  server.resource("note:///a", {}, () => "a");
  return server;
}

const filter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourceSubscriptions: ["note:///a", "note:///b"],
};

/** A modern peer that listens, whose reader falls behind with the next message. */
async function slowListener(server: McpServer, id: string | number): Promise<PipePeer> {
  const peer = new PipePeer(server);
  await listen(peer.client, filter, id);
  peer.slow = true;
  await server.push.publish("notifications/prompts/list_changed");
  return peer;
}

describe("a slow reader", () => {
  test("gets list_changed once for all changes that waited, and updated once for each URI", async () => {
    const server = noteServer();
    const peer = await slowListener(server, "sub");
    const before = peer.written.length;
    for (let at = 0; at < 50; at++) {
      await server.push.publish("notifications/tools/list_changed");
      await server.resources.updated("note:///a");
      await server.resources.updated("note:///b");
    }
    expect(peer.written).toHaveLength(before);
    peer.drain();
    expect(peer.written.slice(before).map(inShort)).toEqual([
      "tools/list_changed",
      "resources/updated note:///a",
      "resources/updated note:///b",
    ]);
    expect(peer.written.slice(before).map(subscriptionOf)).toEqual(["sub", "sub", "sub"]);
    await server.resources.updated("note:///a");
    expect(toldTo(peer.written, "sub").at(-1)).toBe("resources/updated note:///a");
    await peer.pipe.end(0);
  });

  test("of a legacy session gets the same merging, and every notification that was pushed to it by name", async () => {
    const server = noteServer();
    const peer = new PipePeer(server, { revision: "2025-11-25" });
    await peer.client.open();
    await peer.client.request("resources/subscribe", { uri: "note:///a" });
    await nextTurn();
    peer.slow = true;
    await server.push.publish("notifications/prompts/list_changed");
    const before = peer.written.length;
    for (let at = 0; at < 3; at++) {
      await server.push.publish("notifications/tools/list_changed");
      await server.resources.updated("note:///a");
      await server.push.broadcast("notifications/message", { level: "info", data: at });
    }
    expect(peer.written).toHaveLength(before);
    peer.drain();
    const told = peer.written.slice(before);
    expect(told.map(inShort)).toEqual([
      "tools/list_changed",
      "resources/updated note:///a",
      "message",
      "message",
      "message",
    ]);
    expect(told.slice(2).map((message) => paramsOf(message)["data"])).toEqual([0, 1, 2]);
    await peer.pipe.end(0);
  });

  test("gets the latest parameters of what merged", async () => {
    allowBeyondSchema("/params/notifications/jobIds", "notifications/com.example/job");
    const server = noteServer();
    server.extension("com.example/jobs", {
      listens: { jobIds: { notification: "notifications/com.example/job", kind: "keys" } },
    });
    const peer = new PipePeer(server, { capabilities: { extensions: { "com.example/jobs": {} } } });
    await listen(peer.client, { jobIds: ["j1"], toolsListChanged: true }, 1);
    peer.slow = true;
    await server.push.publish("notifications/tools/list_changed");
    for (const state of ["queued", "running", "done"]) {
      await server.push.publish("notifications/com.example/job", "j1", { jobId: "j1", state });
    }
    peer.drain();
    expect(peer.client.notifications("notifications/com.example/job").map(paramsOf)).toMatchObject([
      { jobId: "j1", state: "done" },
    ]);
    await peer.pipe.end(0);
  });

  test("is given nothing more on any subscription of its pipe until it has caught up", async () => {
    const server = noteServer();
    const peer = new PipePeer(server);
    for (const id of ["a", "b", "c"]) await listen(peer.client, { toolsListChanged: true }, id);
    peer.slow = true;
    const before = peer.written.length;
    expect(await server.push.publish("notifications/tools/list_changed")).toBe(3);
    expect(peer.written.length - before).toBe(1);
    // Still slow: each time that it says it has caught up it takes one more.
    peer.pipe.drained();
    expect(peer.written.length - before).toBe(2);
    peer.drain();
    expect(peer.written.slice(before).map(subscriptionOf)).toEqual(["a", "b", "c"]);
    await peer.pipe.end(0);
  });

  test("that was slow before it listened gets its acknowledgement, and what happens then waits", async () => {
    const server = noteServer();
    const peer = await slowListener(server, "first");
    await listen(peer.client, { toolsListChanged: true }, "second");
    const before = peer.written.length;
    await server.push.publish("notifications/tools/list_changed");
    expect(peer.written).toHaveLength(before);
    peer.drain();
    expect(toldTo(peer.written, "second")).toEqual(["tools/list_changed"]);
    await peer.pipe.end(0);
  });

  test("past the limit in bytes has its stream destroyed, while the others continue", async () => {
    const server = noteServer({ maxQueueBytes: 2000 });
    const slow = new PipePeer(server, { revision: "2025-11-25" });
    const fine = new PipePeer(server, { revision: "2025-11-25" });
    await slow.client.open();
    await fine.client.open();
    await nextTurn();
    slow.slow = true;
    const message = { level: "info", data: "x".repeat(400) };
    const reached: number[] = [];
    for (let at = 0; at < 10; at++)
      reached.push(await server.push.broadcast("notifications/message", message));
    // One is taken by the output, then about 480 bytes each wait: the fifth to wait is one too many.
    expect(reached).toEqual([2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
    expect(slow.destroyed).toMatch(/2000 bytes/);
    expect(fine.destroyed).toBeUndefined();
    expect(fine.client.notifications("notifications/message")).toHaveLength(10);
    expect(await server.push.count()).toBe(1);
    expect(await server.push.sessions()).toHaveLength(1);
    const before = slow.written.length;
    slow.drain();
    expect(slow.written).toHaveLength(before);
    await slow.pipe.end(0);
    await fine.pipe.end(0);
  });

  test("of a subscription past the limit is destroyed too, and takes nothing of the hub with it", async () => {
    const server = noteServer({ maxQueueBytes: 300 });
    const slow = await slowListener(server, "slow");
    const fine = new PipePeer(server);
    await listen(fine.client, filter, "fine");
    await server.push.publish("notifications/tools/list_changed");
    await server.resources.updated("note:///a");
    await server.resources.updated("note:///b");
    expect(slow.destroyed).toBeDefined();
    expect(toldTo(fine.written, "fine")).toEqual([
      "tools/list_changed",
      "resources/updated note:///a",
      "resources/updated note:///b",
    ]);
    expect(await server.push.count()).toBe(1);
    await slow.pipe.end(0);
    await fine.pipe.end(0);
    expect(await server.push.count()).toBe(0);
    expect(await server.push.isSubscribed("note:///a")).toBe(false);
  });

  test("loses progress and logs, which may be lost, and never a reply", async () => {
    const server = noteServer();
    server.tool("chatty", {}, (_, ctx) => {
      for (let at = 1; at <= 1000; at++) {
        ctx.progress(at);
        ctx.log("error", at);
      }
      return "done";
    });
    const peer = new PipePeer(server, { revision: "2025-11-25" });
    await peer.client.open();
    peer.slow = true;
    const _meta = { progressToken: "t" };
    const result = await peer.client.request("tools/call", { name: "chatty", _meta });
    expect(result).toMatchObject({ content: [{ text: "done" }] });
    expect(peer.client.notifications("notifications/progress").length).toBeLessThanOrEqual(1);
    expect(peer.client.notifications("notifications/message").length).toBeLessThanOrEqual(1);
    await peer.pipe.end(0);
  });
});

describe("a pipe that is behind", () => {
  test("asks for a pause, and to go on once the output has drained", async () => {
    let resumed = 0;
    const peer = new PipePeer(noteServer(), { onResume: () => resumed++ });
    const ping = (id: number): boolean =>
      peer.pipe.receive(
        JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", ...peer.client.withMeta() }),
      );
    expect(ping(1)).toBe(true);
    await nextTurn();
    peer.slow = true;
    expect(ping(2)).toBe(true);
    await nextTurn();
    expect(ping(3)).toBe(false);
    await nextTurn();
    expect(resumed).toBe(0);
    peer.drain();
    expect(resumed).toBe(1);
    expect(ping(4)).toBe(true);
    await nextTurn();
    expect(peer.written).toHaveLength(4);
    await peer.pipe.end(0);
  });
});
