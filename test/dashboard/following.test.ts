// What the dashboard's timeline shows of a followed client, in both eras, and what it keeps.
import { McpServer } from "halyard";
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { replay } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type Entry, type Page, serveWithPage } from "../support/following.ts";
import { SseClient } from "../support/legacy-sse.ts";
import { recordingLogger } from "../support/log.ts";
import { listenOver, sendModern, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";

const eras = [
  { era: "legacy", revision: "2025-11-25" },
  { era: "modern", revision: "2026-07-28" },
];

function makeServer(options: ConstructorParameters<typeof McpServer>[1] = {}): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger(), ...options });
  server.tool("hello", { input: z.object({ password: z.string().optional() }) }, () => "Hello");
  server.tool("steps", {}, async (_, ctx) => {
    ctx.progress(1, 2);
    ctx.log("info", "half");
    ctx.progress(2, 2);
    return "done";
  });
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Your name?", z.object({ name: z.string() }));
    return `Hello ${name}`;
  });
  server.tool("fail", {}, () => {
    throw new Error("no");
  });
  server.resource("note://1", { name: "note" }, () => "text");
  return server;
}

interface Setting {
  readonly server: McpServer;
  readonly url: string;
  readonly page: Page;
  readonly client: McpClient;
  readonly peer: string;
}

/** A server, a client of it, and a page that follows the client. */
async function follow(revision: string, options: ConnectOptions = {}): Promise<Setting> {
  const server = makeServer();
  const { url, page } = await serveWithPage(server);
  await page.peers();
  const client = await connectTo(url, revision, options);
  const [peer = ""] = await page.peers();
  await page.timeline(peer);
  return { server, url, page, client, peer };
}

async function connectTo(url: string, revision: string, options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(url, { info: { name: "tester", version: "1.0.0" }, revision, ...options });
  onTestFinished(() => client.close());
  return client;
}

const calls = (label: string) => (entry: Entry) => entry.label === label && entry.endedAt !== undefined;

describe.each(eras)("of a $era client", ({ revision, era }) => {
  test("a call is a bar from its request to its response", async () => {
    const { page, client, peer } = await follow(revision);
    await client.callTool("hello");
    const entry = await page.entry(peer, "tools/call");
    expect(entry).toMatchObject({ lane: "calls", label: "hello", outcome: "ok", messages: 2, points: [] });
    expect(entry.endedAt).toBeGreaterThanOrEqual(entry.startedAt);
  });

  test("a call that fails says so", async () => {
    const { page, client, peer } = await follow(revision);
    await client.callTool("fail").catch(() => {});
    await expect(client.callTool("nothing")).rejects.toThrow();
    expect(await page.entry(peer, "tools/call", calls("fail"))).toMatchObject({ outcome: "error" });
    expect(await page.entry(peer, "tools/call", calls("nothing"))).toMatchObject({
      outcome: "error",
      detail: "code -32602",
    });
  });

  test("progress and log messages are points of their call, which has a stream", async () => {
    const { page, client, peer } = await follow(revision, { onLog: () => {} });
    await client.callTool("steps", {}, { onProgress: () => {} });
    const call = await page.entry(peer, "tools/call");
    expect(call.points.map(({ what }) => what)).toEqual(["progress 1 of 2", "log: info", "progress 2 of 2"]);
    expect(call.messages).toBe(5);
    expect(await page.entry(peer, "post")).toMatchObject({
      lane: "streams",
      label: "steps",
      outcome: "ended",
      messages: 4,
    });
  });

  test("a question is a bar until its answer", async () => {
    const answering = deferred();
    const onElicit = async (): Promise<{ action: "accept"; content: { name: string } }> => {
      await answering.promise;
      return { action: "accept", content: { name: "Ada" } };
    };
    const { page, client, peer } = await follow(revision, { onElicit });
    const calling = client.callTool("ask");
    const isOpen = ({ endedAt }: Entry): boolean => endedAt === undefined;
    const asked = await page.entry(peer, "elicitation/create", isOpen);
    expect(asked).toMatchObject({ lane: "questions", label: "ask", messages: 1 });
    answering.resolve();
    await calling;
    const answered = await page.entry(peer, "elicitation/create");
    expect(answered).toMatchObject({ id: asked.id, outcome: "accept", messages: 2 });
    const entries = await page.entries(peer);
    const outcomes = entries.filter(({ kind }) => kind === "tools/call").map(({ outcome }) => outcome);
    expect(outcomes).toEqual(era === "legacy" ? ["ok"] : ["input_required", "ok"]);
  });

  test("a subscription and what is pushed to it", async () => {
    const { page, client, peer, server } = await follow(revision);
    const heard = deferred();
    await client.listen({ resources: ["note://1"] }, () => heard.resolve());
    await server.push.publish("notifications/resources/updated", "note://1", { uri: "note://1" });
    await heard.promise;
    const push = await page.entry(peer, "notifications/resources/updated");
    expect(push).toMatchObject({ lane: "pushes", label: "note://1", messages: 1 });
    expect(push.endedAt).toBe(push.startedAt);
    if (era === "legacy") {
      expect(push.detail).toMatch(/^event g.+\.\d+-\w+$/);
      expect(await page.entry(peer, "resources/subscribe")).toMatchObject({
        lane: "calls",
        label: "note://1",
      });
    } else {
      const listen = await page.entry(peer, "listen", () => true);
      expect(listen).toMatchObject({ lane: "streams", label: "resourceSubscriptions" });
      expect(listen.endedAt).toBeUndefined();
    }
  });

  test("messages are shown only on demand, with their arguments and without secrets", async () => {
    const { page, client, peer } = await follow(revision);
    await client.callTool("hello", { password: "swordfish" });
    const { id } = await page.entry(peer, "tools/call");
    expect(JSON.stringify(await page.timeline(peer))).not.toContain("password");
    const { lines } = await page.messages(peer, [id]);
    expect(lines.map(({ direction }) => direction)).toEqual(["sent", "received"]);
    expect(lines[0]?.message).toMatchObject({
      params: { name: "hello", arguments: { password: "[redacted]" } },
    });
    expect(lines[1]?.message).toMatchObject({ result: { content: [{ type: "text", text: "Hello" }] } });
    expect(JSON.stringify(await page.recording(peer))).not.toContain("swordfish");
  });

  test("the recording replays", async () => {
    const onElicit = (): { action: "accept"; content: { name: string } } => ({
      action: "accept",
      content: { name: "Ada" },
    });
    const { url, page } = await serveWithPage(makeServer(), { history: 1000 });
    const client = await connectTo(url, revision, { onElicit });
    const results = [await client.callTool("hello"), await client.callTool("ask")];
    await page.peers();
    await client.callTool("hello", { password: "x" });
    const [peer = ""] = await page.peers();
    await page.timeline(peer);
    const { lines, dropped } = await page.recording(peer);
    expect(dropped).toBe(0);
    const texts = lines.map((line) => JSON.stringify(line));
    await using again = await connect(replay(texts), { revision, onElicit });
    const replayed = [await again.callTool("hello"), await again.callTool("ask")];
    const textsOf = (all: typeof results): unknown[] => all.map(({ content }) => content);
    expect(textsOf(replayed)).toEqual(textsOf(results));
  });

  test("a task is a bar until its work ends", async () => {
    const working = deferred();
    const server = makeServer();
    server.tool("work", { task: "required" }, () => working.promise.then(() => "done"));
    const { url, page } = await serveWithPage(server);
    await page.peers();
    const client = await connectTo(url, revision, { tasks: true });
    const [peer = ""] = await page.peers();
    await page.timeline(peer);
    const calling = client.callTool("work");
    const task = await page.entry(peer, "task", () => true);
    expect(task).toMatchObject({ lane: "tasks", label: "work" });
    expect(task.endedAt).toBeUndefined();
    working.resolve();
    await calling;
    expect(await page.entry(peer, "task")).toMatchObject({ id: task.id, outcome: "completed" });
  });
});

describe("streams and sessions", () => {
  async function followSession(): Promise<{
    client: SessionClient;
    page: Page;
    peer: string;
    server: McpServer;
  }> {
    const server = makeServer();
    const { url, page } = await serveWithPage(server);
    const client = await SessionClient.open({ url });
    const [peer = ""] = await page.peers();
    return { client, page, peer, server };
  }

  test("a GET stream that is cut and resumed is one bar with two points", async () => {
    const { client, page, peer, server } = await followSession();
    await page.timeline(peer);
    const stream = await client.get();
    await server.push.toSession(client.id, "notifications/message", { level: "info", data: 1 });
    await stream.count(1);
    stream.cut();
    await page.entry(peer, "get", ({ outcome }) => outcome === "cut");
    const resumed = await client.get(stream.lastEventId);
    onTestFinished(() => resumed.cut());
    const entry = await page.entry(peer, "get", ({ points }) => points.length === 2);
    expect(entry.points.map(({ what }) => what)).toEqual(["cut", "resumed"]);
    expect(entry).toMatchObject({ lane: "streams", messages: 1 });
    expect(entry.endedAt).toBeUndefined();
    expect(entry.outcome).toBeUndefined();
  });

  test("a stream that is open when following begins has begun before", async () => {
    const { client, page, peer } = await followSession();
    const stream = await client.get();
    onTestFinished(() => stream.cut());
    await until(async () => (await page.entries(peer)).some(({ kind }) => kind === "get"));
    const [entry] = await page.entries(peer);
    expect(entry?.kind).toBe("get");
  });

  test("log messages of calls that run at the same time are told apart", async () => {
    const { client, page, peer, server } = await followSession();
    const going = deferred();
    const logged = async (name: string): Promise<void> => {
      server.tool(name, {}, async (_, ctx) => {
        ctx.log("warning", name);
        await going.promise;
        return name;
      });
    };
    await logged("one");
    await logged("two");
    await page.timeline(peer);
    const replies = [await client.call("one"), await client.call("two")];
    for (const reply of replies) await reply.count(1);
    going.resolve();
    for (const reply of replies) await reply.closed;
    for (const label of ["one", "two"]) {
      const call = await page.entry(peer, "tools/call", calls(label));
      expect(call.points.map(({ what }) => what)).toEqual(["log: warning"]);
      expect(await page.entry(peer, "post", calls(label))).toMatchObject({ messages: 2 });
    }
  });

  test("a call that runs when following begins has begun before", async () => {
    const { client, page, peer, server } = await followSession();
    const going = deferred();
    server.tool("slow", {}, () => going.promise.then(() => "done"));
    const calling = client.request("tools/call", { name: "slow", arguments: {} });
    await until(
      async () => (await page.ask<{ counts: { inFlight: number } }>({ ask: "now" })).counts.inFlight === 1,
    );
    const call = await page.entry(peer, "tools/call", () => true);
    expect(call).toMatchObject({ label: "slow", messages: 0 });
    expect(call.startedAt).toBeLessThanOrEqual((await page.timeline(peer)).since);
    going.resolve();
    await calling;
    expect(await page.entry(peer, "tools/call")).toMatchObject({ outcome: "ok", messages: 1 });
  });

  test("a listen stream that is open when following begins", async () => {
    const server = makeServer();
    const { url, page } = await serveWithPage(server);
    await page.peers();
    const listen = await listenOver(url, { toolsListChanged: true });
    onTestFinished(() => listen.cut());
    const [peer = ""] = await page.peers();
    expect(await page.entry(peer, "listen", () => true)).toMatchObject({ lane: "streams", messages: 0 });
    server.tool("more", {}, () => "");
    await listen.message(({ method }) => method === "notifications/tools/list_changed");
    expect(await page.entry(peer, "notifications/tools/list_changed")).toMatchObject({ lane: "pushes" });
  });

  test("the end of a session ends its streams", async () => {
    const { client, page, peer } = await followSession();
    await page.timeline(peer);
    const stream = await client.get();
    await client.delete();
    await stream.closed;
    expect(await page.entry(peer, "session")).toMatchObject({
      lane: "streams",
      label: "ended",
      outcome: "deleted",
    });
    expect(await page.entry(peer, "get")).toMatchObject({ outcome: "ended" });
  });

  test("a gap is a point", async () => {
    const { client, page, peer } = await followSession();
    await page.timeline(peer);
    const stream = await client.get("gunknown.1");
    onTestFinished(() => stream.cut());
    expect(await page.entry(peer, "gap")).toMatchObject({ lane: "streams", label: "this client" });
  });

  test("a call that its client cancels says so", async () => {
    const { client, page, peer, server } = await followSession();
    server.tool(
      "wait",
      {},
      (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("over"))),
    );
    await page.timeline(peer);
    const calling = client.start("tools/call", { name: "wait", arguments: {} }, 77);
    await page.entry(peer, "tools/call", () => true);
    await client.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } });
    expect(await page.entry(peer, "tools/call")).toMatchObject({ outcome: "cancelled" });
    (await calling).cut();
  });

  test("the reply to a POST that is cut continues when its client resumes it", async () => {
    const { client, page, peer, server } = await followSession();
    const going = deferred();
    server.tool("slow", {}, async (_, ctx) => {
      ctx.log("info", "begun");
      await going.promise;
      return "done";
    });
    await page.timeline(peer);
    const reply = await client.call("slow");
    await reply.count(1);
    reply.cut();
    await page.entry(peer, "post", ({ outcome }) => outcome === "cut");
    const resumed = await client.get(reply.lastEventId);
    await page.entry(peer, "post", ({ points }) => points.length === 2);
    going.resolve();
    await resumed.closed;
    const stream = await page.entry(peer, "post");
    expect(stream.points.map(({ what }) => what)).toEqual(["cut", "resumed"]);
    expect(stream).toMatchObject({ label: "slow", outcome: "ended" });
    expect(await page.entry(peer, "tools/call")).toMatchObject({ outcome: "ok" });
  });

  test("a client of HTTP+SSE has one stream for everything", async () => {
    const board = await serveWithPage(makeServer(), {}, { legacySse: true });
    const client = await SseClient.open(board);
    onTestFinished(() => client.stream.cut());
    const [peer = ""] = await board.page.peers();
    await board.page.timeline(peer);
    await client.say({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    await client.stream.message(({ id }) => id === 1);
    expect(await board.page.entry(peer, "tools/list")).toMatchObject({
      lane: "calls",
      outcome: "ok",
      messages: 2,
    });
    client.stream.cut();
    expect(await board.page.entry(peer, "sse")).toMatchObject({
      lane: "streams",
      outcome: "cut",
      messages: 1,
    });
    expect(await board.page.entry(peer, "session")).toMatchObject({ label: "ended", outcome: "left" });
  });

  test("a listen stream that is cut has ended", async () => {
    const { url, page } = await serveWithPage(makeServer());
    await page.peers();
    await (
      await sendModern(url, "tools/list")
    ).closed;
    const [peer = ""] = await page.peers();
    await page.timeline(peer);
    const listen = await listenOver(url, { toolsListChanged: true });
    listen.cut();
    expect(await page.entry(peer, "listen")).toMatchObject({ label: "toolsListChanged", outcome: "cut" });
  });
});
