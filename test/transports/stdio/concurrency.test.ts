// Many calls at once on one pipe.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { listen } from "../../support/listen.ts";
import { describeMatrix, pipes } from "../../support/matrix.ts";
import { PipePeer } from "../../support/pipe.ts";
import { deferred, nextTurn } from "../../support/turns.ts";

describeMatrix("concurrency", { transports: pipes }, (cell) => {
  test("1,000 calls run at once, and each is answered when it ends, in whatever order", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const gates = Array.from({ length: 1000 }, () => deferred());
    const input = z.object({ at: z.number() });
    server.tool("wait", { input }, async ({ at }) => {
      await gates[at]?.promise;
      return String(at);
    });
    const client = await cell.connect(server);
    const before = client.received.length;
    const calls = gates.map((_, at) =>
      client.request("tools/call", { name: "wait", arguments: { at } }, { id: `call-${at}` }),
    );
    for (const gate of gates.toReversed()) gate.resolve();
    const results = await Promise.all(calls);
    expect(results.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(
      gates.map((_, at) => String(at)),
    );
    const order = client.received.slice(before).map((message) => ("id" in message ? message.id : ""));
    expect(order).toHaveLength(1000);
    expect(order[0]).toBe("call-999");
    await client.close();
  });

  test("an id that is in use is refused, and the first call is not harmed", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const gate = deferred();
    let runs = 0;
    server.tool("wait", {}, async () => {
      runs++;
      await gate.promise;
      return "first";
    });
    const client = await cell.connect(server);
    const call = { jsonrpc: "2.0", id: 77, method: "tools/call", ...client.withMeta({ name: "wait" }) };
    client.send(call);
    client.send(call);
    expect(await client.waitFor((message) => "error" in message)).toMatchObject({
      id: 77,
      error: { code: -32600 },
    });
    gate.resolve();
    expect(await client.waitFor((message) => "result" in message && message.id === 77)).toMatchObject({
      result: { content: [{ text: "first" }] },
    });
    expect(runs).toBe(1);
    // Once it has been answered, the id is free.
    expect(await client.request("tools/call", { name: "wait" }, { id: 77 })).toMatchObject({
      content: [{ text: "first" }],
    });
    await client.close();
  });

  test("a number and the same digits as a string are two ids [BASE-RESP-ID-ECHO]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const gate = deferred();
    server.tool("wait", {}, async (_, ctx) => {
      await gate.promise;
      return typeof ctx.id;
    });
    const client = await cell.connect(server);
    const [number, string] = [
      client.request("tools/call", { name: "wait" }, { id: 42 }),
      client.request("tools/call", { name: "wait" }, { id: "42" }),
    ];
    gate.resolve();
    expect(await number).toMatchObject({ content: [{ text: "number" }] });
    expect(await string).toMatchObject({ content: [{ text: "string" }] });
    await client.close();
  });

  test("a call that takes long holds up no other", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("never", {}, (_, ctx) => {
      return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("late")));
    });
    server.tool("quick", {}, () => "done");
    const client = await cell.connect(server);
    client.send({ jsonrpc: "2.0", id: "slow", method: "tools/call", ...client.withMeta({ name: "never" }) });
    expect(await client.request("tools/call", { name: "quick" })).toMatchObject({
      content: [{ text: "done" }],
    });
    client.notify("notifications/cancelled", { requestId: "slow" });
    await client.close();
  });
});

describe("limits.maxInFlight", () => {
  function waitingServer(): { server: McpServer; finish: () => void } {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { limits: { maxInFlight: 2 } });
    const gate = deferred();
    server.tool("wait", {}, async () => {
      await gate.promise;
      return "done";
    });
    return { server, finish: gate.resolve };
  }

  test("past the limit a request is refused, cancellations are still read, and an answer makes room", async () => {
    const { server, finish } = waitingServer();
    const { pipe, client } = new PipePeer(server);
    const first = client.request("tools/call", { name: "wait" });
    client.send({ jsonrpc: "2.0", id: "gone", method: "tools/call", ...client.withMeta({ name: "wait" }) });
    await expect(client.request("server/discover")).rejects.toMatchObject({ code: -32600 });
    client.notify("notifications/cancelled", { requestId: "gone" });
    finish();
    expect(await first).toMatchObject({ content: [{ text: "done" }] });
    await nextTurn();
    expect(await client.request("server/discover")).toHaveProperty("supportedVersions");
    await pipe.end(0);
  });

  test("subscriptions, which stay open, do not use up the calls that may run", async () => {
    const { server } = waitingServer();
    const { pipe, client } = new PipePeer(server);
    await listen(client, { toolsListChanged: true }, "a");
    await listen(client, { toolsListChanged: true }, "b");
    await listen(client, { toolsListChanged: true }, "c");
    expect(await client.request("server/discover")).toHaveProperty("supportedVersions");
    await pipe.end(0);
  });
});
