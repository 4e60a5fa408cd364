// Streams while a node hears nothing, is gone, or is of another version, and event ids that no node has given out.
import { memoryBackplane } from "halyard/cluster";
import { describe, expect, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { engineOf } from "../support/backplane.ts";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { openRaw } from "../support/raw-socket.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { logDataOf, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

expectNoUnhandledRejections();

const allTimers = ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] as const;

async function push({ server }: TestNode, { id }: SessionClient, ...numbers: number[]): Promise<void> {
  for (const data of numbers) {
    const params = { level: "info", data };
    expect(await server.push.toSession(id, "notifications/message", params)).toBe(true);
  }
}

async function got(stream: EventReply, ...numbers: number[]): Promise<void> {
  await until(() => logDataOf(stream.messages).length >= numbers.length);
  expect(logDataOf(stream.messages)).toEqual(numbers);
}

/** A stream from which its client could resume. */
async function opened(stream: Promise<EventReply>): Promise<EventReply> {
  const reply = await stream;
  await until(() => reply.lastEventId !== undefined);
  return reply;
}

describe("a node whose bus is dead while commands work", () => {
  test("reads the logs of its open streams once its lease has ended", async () => {
    holdClocks(...allTimers);
    const [deaf, other] = await serveCluster({ nodes: 2 });
    const client = await SessionClient.open(deaf);
    const stream = await opened(client.get());
    deaf.engine.deafen();
    await push(other, client, 1, 2);
    await vi.advanceTimersByTimeAsync(4000);
    expect(logDataOf(stream.messages)).toEqual([]);
    await vi.advanceTimersByTimeAsync(6000);
    vi.useRealTimers();
    await got(stream, 1, 2);
    stream.cut();
  });

  test("reads what it missed as soon as it hears again", async () => {
    holdClocks(...allTimers);
    const [deaf, other] = await serveCluster({ nodes: 2 });
    const client = await SessionClient.open(deaf);
    const stream = await opened(client.get());
    deaf.engine.deafen();
    deaf.engine.fail("read");
    await vi.advanceTimersByTimeAsync(11_000);
    await push(other, client, 1, 2);
    deaf.engine.heal();
    await vi.advanceTimersByTimeAsync(1000);
    vi.useRealTimers();
    await got(stream, 1, 2);
    stream.cut();
  });
});

test("a call whose node has gone silent ends with one error three seconds after the resume", async () => {
  holdClocks(...allTimers);
  const gate = deferred<string>();
  const [silent, other] = await serveCluster({
    nodes: 2,
    define: (server) => {
      server.tool("wait", {}, (_, ctx) => {
        ctx.log("info", "began");
        return gate.promise;
      });
    },
  });
  const client = await SessionClient.open(silent);
  const call = await opened(client.start("tools/call", { name: "wait", arguments: {} }, "call"));
  silent.engine.cutOff();
  const resumed = await clientAt(other, client).get(call.lastEventId);
  await vi.advanceTimersByTimeAsync(2900);
  expect(resumed.messages).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  vi.useRealTimers();
  await resumed.closed;
  silent.engine.heal();
  gate.resolve("late");
  await until(() => silent.stats().inFlight === 0);
  const replayed = await clientAt(silent, client).get(call.lastEventId);
  await replayed.closed;
  for (const { messages } of [resumed, replayed]) {
    expect(messages).toMatchObject([{ id: "call", error: { code: -32603 } }]);
  }
});

describe.each(engineRows)("$name", (row) => {
  const engine = onEngine(row);

  test("messages and entries that a later version writes are ignored", async () => {
    const [first, second] = await serveCluster({ backplane: engine.backplane, nodes: 2 });
    const client = await SessionClient.open(first);
    const stream = await opened(client.get());
    await push(second, client, 1);
    await got(stream, 1);
    const strange = ['{"k":"future","m":"{}"}', '{"k":"push"}', '{"k":"get","n":7}', "no JSON", "[]", ""];
    const later = await engineOf(engine.backplane);
    for (const text of strange) await later.append(client.id, text, { keepMs: 60_000 });
    const body = { id: client.id, session: client.id };
    for (const message of [
      { v: 2, from: "later", kind: "ended", body },
      { v: 1, from: "later", kind: "future", body },
      { v: 1, from: 7, kind: "ended", body },
      { v: 1, from: "later", kind: "ended" },
      { kind: "ended", from: "later", body },
    ]) {
      await later.send("all", JSON.stringify(message));
    }
    await later.send("all", "no JSON");
    await push(second, client, 2);
    await got(stream, 1, 2);
    const resumed = await clientAt(second, client).get(stream.events.find(({ data }) => data)?.id);
    await got(resumed, 2);
    expect((await client.start("ping")).status).toBe(200);
    await later.close();
    resumed.cut();
  });

  test("an event id of another session, or of another principal, brings nothing of theirs", async () => {
    const auth = (request: { header(name: string): string | undefined }) => ({
      issuer: "https://issuer.example",
      subject: request.header("x-user") ?? "nobody",
    });
    const gate = deferred<string>();
    const [first, second] = await serveCluster({
      backplane: engine.backplane,
      nodes: 2,
      http: { auth },
      define: (server) => {
        server.tool("wait", {}, (_, ctx) => {
          ctx.log("info", "began");
          return gate.promise;
        });
      },
    });
    const alice = await SessionClient.open(first, { headers: { "x-user": "alice" } });
    const call = await opened(alice.start("tools/call", { name: "wait", arguments: {} }, "call"));
    const stream = await opened(alice.get());
    const [getId, postId] = [stream.lastEventId, call.lastEventId];
    await push(first, alice, 1);
    await got(stream, 1);
    for (const user of ["alice", "bob"]) {
      const thief = { headers: { "x-user": user } };
      const other = clientAt(second, await SessionClient.open(first, thief), thief);
      expect((await other.get(postId)).status).toBe(400);
      const fresh = await other.get(getId);
      expect(fresh.status).toBe(200);
      await push(first, other, 9);
      await got(fresh, 9);
      fresh.cut();
    }
    const bob = clientAt(second, alice, { headers: { "x-user": "bob" } });
    expect((await bob.get(getId)).status).toBe(404);
    expect((await bob.get(postId)).status).toBe(404);
    gate.resolve("secret");
    await call.closed;
    expect((await bob.get(postId)).status).toBe(404);
    stream.cut();
  });

  test("forged event ids open a stream that says nothing old, or are refused", async () => {
    const [first, second] = await serveCluster({ backplane: engine.backplane, nodes: 2 });
    const client = await SessionClient.open(first);
    const stream = await opened(client.get());
    await push(first, client, 1);
    await got(stream, 1);
    stream.cut();
    const [start = "", at = "", changes = ""] = (stream.lastEventId ?? "").slice(1).split(".");
    const huge = "9".repeat(16);
    const forged = [
      `g${huge}.${at}.${changes}`,
      `g${start}.${huge}-.${changes}`,
      `g${start}.${at.replace(/-.*/, "-zzz")}.${changes}`,
      `g0.${at}.${changes}`,
      `g-1.${at}.${changes}`,
      `g${start}.${at}`,
      "g",
      "nonsense",
      "",
      "x".repeat(4000),
    ];
    let number = 1;
    for (const id of forged) {
      const resumed = await clientAt(second, client).get(id);
      expect([id, resumed.status]).toEqual([id, 200]);
      await push(first, client, ++number);
      await got(resumed, number);
      resumed.cut();
    }
    for (const id of [`p${start}.${at}`, `p${huge}.${at}`, `p0.${at}`, "p", `p${start}.${huge}-`]) {
      expect([id, (await clientAt(second, client).get(id)).status]).toEqual([id, 400]);
    }
  });
});

test.each(["\r", "\n", "\0", "\r\nx-user: mallory\r\n\r\n"])(
  "an event id with %j is refused, or ends at it, and is never echoed",
  async (cut) => {
    const [first] = await serveCluster({ nodes: 1, backplane: memoryBackplane() });
    const client = await SessionClient.open(first);
    const { port } = new URL(first.url);
    const headers = `Host: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${client.id}\r\n`;
    const raw = openRaw(Number(port));
    void raw.request(`GET /mcp HTTP/1.1\r\n${headers}Last-Event-ID: g1.1-a${cut}injected.1-a\r\n\r\n`);
    await until(() => raw.text().length > 0);
    expect(raw.text()).toMatch(/^HTTP\/1\.1 (200|400) /);
    expect(raw.text()).not.toContain("injected");
    expect((await client.start("ping")).status).toBe(200);
    raw.socket.destroy();
  },
);
