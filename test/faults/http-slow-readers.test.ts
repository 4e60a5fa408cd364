// A reader that does not read: its messages merge, then the server cuts it off, and others are not affected.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import type { EventReply } from "../support/event-reply.ts";
import { recordingLogger } from "../support/log.ts";
import { edges, listenOver, methodsOf, serve, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

function makeServer(maxQueueBytes: number): McpServer {
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    { logger: recordingLogger(), limits: { maxQueueBytes } },
  );
  server.tool("first", {}, () => "first");
  return server;
}

const padding = "x".repeat(10_000);
const uris = Array.from({ length: 200 }, (_, at) => `note:///${at}/${padding.slice(0, 600)}`);

describe.each(edges)("slow readers · %s", (edge) => {
  test("one that does not read is cut off at its bound, and 99 others get everything", async () => {
    const server = makeServer(64 * 1024);
    server.resource("note:///x", {}, () => "x");
    const served = await serve(server, {}, edge);
    const filter = { resourceSubscriptions: uris };
    const slow = await listenOver(served.url, filter, { id: "slow" });
    const fast = await Promise.all(
      Array.from({ length: 99 }, (_, id) =>
        listenOver(served.url, { resourceSubscriptions: uris.slice(0, 3) }, { id }),
      ),
    );
    slow.stall();
    // The system's own buffers take the first megabytes.
    for (let round = 0; round < 200 && served.stats().subscriptions === 100; round++) {
      for (const uri of uris) await server.resources.updated(uri);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => served.stats().subscriptions === 99);
    await server.resources.updated(uris[0] ?? "");
    for (const stream of fast) {
      await until(
        () =>
          stream.messages.length > 3 && methodsOf(stream.messages).at(-1) === `resources/updated ${uris[0]}`,
      );
      expect(stream.end).toBeUndefined();
    }
    slow.proceed();
    await slow.closed;
    // A web response can only be made to fail: whether its server then cuts the connection is up to that server.
    if (edge !== "fetchHandler") expect(slow.end).toBe("cut");
    expect(slow.messages.some(({ result }) => result !== undefined)).toBe(false);
  });
});

describe("a session that reads slowly", () => {
  test("gets the latest word of each change once it reads again: what waits merges", async () => {
    const server = makeServer(1024 * 1024);
    server.resource("note:///x", {}, () => "x");
    const served = await serve(server);
    const client = await SessionClient.open(served);
    const own = uris.slice(0, 50);
    for (const uri of own) await client.request("resources/subscribe", { uri });
    const stream = await client.get();
    stream.stall();
    const rounds = 400;
    for (let round = 0; round < rounds; round++) for (const uri of own) await server.resources.updated(uri);
    expect(served.stats().streams).toBe(1);
    stream.proceed();
    await server.push.toSession(client.id, "notifications/message", { level: "info", data: "end" });
    await stream.message(({ method }) => method === "notifications/message");
    const updates = (): string[] => methodsOf(stream.messages).filter((method) => method !== "message");
    const latest = new Set(own.map((uri) => `resources/updated ${uri}`));
    await until(() => new Set(updates().slice(-50)).size === 50);
    expect(new Set(updates().slice(-50))).toEqual(latest);
    expect(updates().length).toBeLessThan(rounds * own.length);
  });

  test("is cut off past its bound, comes back, and is told what to read again", async () => {
    const server = makeServer(1024 * 1024);
    const served = await serve(server);
    const client = await SessionClient.open(served);
    const stream: EventReply = await client.get();
    await until(() => stream.events.length === 1);
    const { lastEventId } = stream;
    stream.stall();
    for (let at = 0; at < 5000 && served.stats().streams === 1; at++) {
      await server.push.toSession(client.id, "notifications/message", { level: "info", data: padding });
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => served.stats().streams === 0);
    expect(served.stats().replayBytes).toBeLessThanOrEqual(256 * 1024);
    const resumed = await client.get(lastEventId);
    await resumed.message(({ method }) => method === "notifications/tools/list_changed");
    await server.push.toSession(client.id, "notifications/message", { level: "info", data: "end" });
    await resumed.message(({ params }) => (params as { data?: unknown } | undefined)?.data === "end");
    stream.cut();
  });
});
