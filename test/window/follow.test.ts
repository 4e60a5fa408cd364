// Following a client: its messages with the call, the stream and the task of each; bounded, and nothing for others.
import { McpServer } from "halyard";
import {
  type Followed,
  type FollowedCall,
  type FollowedMessage,
  windowOf,
  withoutSecrets,
} from "halyard/window";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { open } from "../support/catalogue.ts";
import { recordingLogger } from "../support/log.ts";
import { describeMatrix } from "../support/matrix.ts";
import { serve, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";

function makeServer(): McpServer & { log: ReturnType<typeof recordingLogger>["entries"] } {
  const logger = recordingLogger();
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger });
  server.tool("hello", {}, () => "Hello");
  server.tool("throws", {}, () => {
    throw new Error("broken");
  });
  server.tool("steps", {}, async (_, ctx) => {
    ctx.progress(1, 2);
    return "done";
  });
  return Object.assign(server, { log: logger.entries });
}

const isMessage = (item: Followed): item is FollowedMessage => item.type === "message";
const isCall = (item: Followed): item is FollowedCall => item.type === "call";

describeMatrix("window.follow", { transports: ["memory", "stdio", "http"] }, (cell) => {
  test("delivers each message with its direction and its call", async () => {
    const server = makeServer();
    const items: Followed[] = [];
    const follow = windowOf(server).follow({}, (batch) => void items.push(...batch));
    const client = await open(cell, server);
    follow.flush();
    items.length = 0;
    await client.request("tools/call", { name: "hello", arguments: {} });
    await client.request("tools/call", { name: "throws", arguments: {} });
    follow.flush();
    const [first, second] = items.filter(isCall).filter(({ state }) => state === "ended");
    expect(first).toMatchObject({ method: "tools/call", name: "hello", end: { outcome: "ok" } });
    expect(second).toMatchObject({ name: "throws", end: { outcome: "error" } });
    expect(second?.end?.errorId).toMatch(/^\w+$/);
    const ofFirst = items.filter(isMessage).filter(({ call }) => call === first?.call);
    expect(ofFirst.map(({ direction, kind, method }) => [direction, kind, method])).toEqual([
      ["sent", "request", "tools/call"],
      ["received", "response", undefined],
    ]);
    for (const { text, message, peer } of ofFirst) {
      expect(JSON.parse(text)).toEqual(message);
      expect(peer).toBe(first?.peer);
    }
    follow.stop();
    items.length = 0;
    await client.request("tools/call", { name: "hello", arguments: {} });
    follow.flush();
    expect(items).toEqual([]);
  });
});

test("notifications of a call have its number and its stream", async () => {
  const server = makeServer();
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  const inside = windowOf(server);
  const [{ peer } = { peer: "" }] = inside.snapshot("sessions").rows;
  const items: Followed[] = [];
  const follow = inside.follow({ peer }, (batch) => void items.push(...batch));
  const reply = await client.start("tools/call", {
    name: "steps",
    arguments: {},
    _meta: { progressToken: "p" },
  });
  await reply.closed;
  follow.flush();
  const began = items.find(isCall);
  const progress = items.filter(isMessage).find(({ method }) => method === "notifications/progress");
  expect(progress).toMatchObject({ call: began?.call, stream: { kind: "post" } });
  expect(items).toContainEqual(
    expect.objectContaining({ type: "stream", state: "opened", call: began?.call }),
  );
  expect(began?.progressToken).toBe("p");
  expect(items.at(-1)).toMatchObject({ type: "stream", state: "closed" });
});

test("a follow begins with the calls and the streams that are open, and follows the stream", async () => {
  const server = makeServer();
  const { promise, resolve } = deferred<string>();
  server.tool("wait", {}, () => promise);
  const inside = windowOf(server);
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  const stream = await client.get();
  onTestFinished(() => stream.cut());
  const pending = client.request("tools/call", { name: "wait", arguments: {} });
  await until(() => inside.counts().calls === 1);
  const [{ peer } = { peer: "" }] = inside.snapshot("sessions").rows;
  const items: Followed[] = [];
  const follow = inside.follow({ peer }, (batch) => void items.push(...batch));
  follow.flush();
  expect(items.map(({ type }) => type).toSorted()).toEqual(["call", "stream"]);
  expect(items).toContainEqual(expect.objectContaining({ type: "call", state: "began", isEarlier: true }));
  const [row] = inside.snapshot("streams").rows;
  expect(items).toContainEqual(
    expect.objectContaining({
      type: "stream",
      stream: expect.objectContaining({ id: row?.id, kind: "get" }),
    }),
  );
  resolve("done");
  await pending;
  server.tool("new", {}, () => "");
  await until(() => {
    follow.flush();
    return items.some((item) => isMessage(item) && item.method === "notifications/tools/list_changed");
  });
  const pushed = items.filter(isMessage).find(({ method }) => method?.endsWith("list_changed"));
  expect(pushed).toMatchObject({ stream: { id: row?.id }, eventId: expect.any(String), call: undefined });
});

test("questions, tasks and events of the client are delivered, those of others are not", async () => {
  const server = makeServer();
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Name?", z.object({ name: z.string() }));
    return name;
  });
  const inside = windowOf(server);
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  const [{ peer } = { peer: "" }] = inside.snapshot("sessions").rows;
  const other = await SessionClient.open({ url });
  const items: Followed[] = [];
  const follow = inside.follow({ peer }, (batch) => void items.push(...batch));
  await other.request("tools/call", { name: "hello", arguments: {} });
  const stream = await client.get();
  server.tool("new", {}, () => "");
  await client.request("tools/list");
  await inside.end(peer);
  stream.cut();
  await until(() => {
    follow.flush();
    return items.some((item) => item.type === "event" && item.event.type === "session");
  });
  expect(new Set(items.map((item) => item.peer))).toEqual(new Set([peer]));
});

test("a follower that is slow gets one batch at a time, and its queue is bounded", async () => {
  const server = makeServer();
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  const inside = windowOf(server);
  const { promise, resolve } = deferred();
  const batches: (readonly Followed[])[] = [];
  let lost = 0;
  const follow = inside.follow({ maxWaiting: 10 }, (batch, dropped) => {
    batches.push(batch);
    lost += dropped;
    return batches.length === 1 ? promise : undefined;
  });
  await client.request("tools/list");
  follow.flush();
  expect(batches).toHaveLength(1);
  for (let at = 0; at < 30; at++) await client.request("tools/list");
  follow.flush();
  expect(batches).toHaveLength(1);
  resolve();
  await until(() => batches.length === 2);
  expect(batches[1]).toHaveLength(10);
  expect(lost).toBe(30 * 4 - 10);
});

test("the characters that wait for a follower are bounded", async () => {
  const server = makeServer();
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  let lost = 0;
  let most = 0;
  const follow = windowOf(server).follow({ maxCharacters: 5000 }, (batch, dropped) => {
    lost += dropped;
    most = Math.max(
      most,
      batch.filter(isMessage).reduce((sum, { text }) => sum + text.length, 0),
    );
  });
  await client.request("tools/call", { name: "x".repeat(10_000), arguments: {} }).catch(() => {});
  await client.request("tools/list");
  follow.flush();
  expect(lost).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(5000);
});

test("a follower that throws or rejects is logged, and gets the next batch", async () => {
  const server = makeServer();
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  let batches = 0;
  const follow = windowOf(server).follow({}, () => {
    batches++;
    if (batches === 1) throw new Error("broken");
    return Promise.reject(new Error("broken, too"));
  });
  await client.request("tools/list");
  follow.flush();
  await client.request("tools/list");
  follow.flush();
  expect(batches).toBe(2);
  await until(() => server.log.some(({ message }) => message.startsWith("A follower failed")));
});

test("withoutSecrets replaces secrets of a followed message, and the id of the session", async () => {
  const server = makeServer();
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  const items: Followed[] = [];
  const follow = windowOf(server).follow({}, (batch) => void items.push(...batch));
  const args = { password: "hunter2-and-more", note: `for ${client.id}` };
  await client.request("tools/call", { name: "hello", arguments: args });
  follow.flush();
  const sent = items.find(isMessage);
  expect(sent?.text).toContain("hunter2-and-more");
  const shown = JSON.stringify(withoutSecrets(sent?.message, sent?.session));
  expect(shown).not.toContain("hunter2-and-more");
  expect(shown).not.toContain(client.id);
});
