// A client that does not read: the server stops reading requests, buffers little, and continues when the client reads again.
import { PassThrough } from "node:stream";
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
import { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { startChild } from "../../support/child.ts";
import { paramsOf } from "../../support/listen.ts";
import { modernRequest } from "../../support/raw.ts";
import { openStdio, readLines } from "../../support/stdio.ts";
import { nextTurn, until } from "../../support/turns.ts";

const kilobyte = 1024;

interface Unread {
  readonly client: TestClient;
  readonly output: PassThrough;
  /** From now on everything is read. */
  read(): void;
}

/** A server on streams whose output is not read yet. */
async function serveUnread(server: McpServer, revision: string): Promise<Unread> {
  const { wire, output } = await openStdio(server);
  const client = new TestClient(wire, { revision });
  return { client, output, read: () => readLines(output, (line) => wire.onMessage(line)) };
}

function bigServer(): { server: McpServer; runs: () => number } {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  let runs = 0;
  server.tool("big", {}, () => {
    runs++;
    return "x".repeat(64 * kilobyte);
  });
  return { server, runs: () => runs };
}

function call(client: TestClient, id: number, name = "big", _meta: object = {}): void {
  client.send({ jsonrpc: "2.0", id, method: "tools/call", ...client.withMeta({ name, _meta }) });
}

describe("back-pressure", () => {
  test("a client that does not read gets no more than so many calls run, and all answers once it reads", async () => {
    const { server, runs } = bigServer();
    const { client, output, read } = await serveUnread(server, "2026-07-28");
    for (let id = 0; id < 300; id++) {
      call(client, id);
      await nextTurn();
    }
    // 300 answers would be 19 MB; the reader counts as behind after 1 MB.
    expect(runs()).toBeLessThan(40);
    expect(output.writableLength).toBeLessThan(3 * kilobyte * kilobyte);
    read();
    await until(() => client.received.length === 300);
    const ids = client.received.map((message) => ("id" in message ? message.id : undefined));
    expect(new Set(ids).size).toBe(300);
    await client.close();
  });

  test("calls that come in one piece are no exception, and the end of the input loses none", async () => {
    const { server, runs } = bigServer();
    const input = new PassThrough();
    const output = new PassThrough();
    const served = await serveStdio(server, { input, output });
    const calls = Array.from({ length: 300 }, (_, id) => modernRequest(id, "tools/call", { name: "big" }));
    input.end(calls.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await until(() => runs() > 0);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    // Known to be behind after 16 answers, when a few more have been begun.
    expect(runs()).toBeLessThan(80);
    let answers = 0;
    readLines(output, () => answers++);
    await served.closed;
    expect(answers).toBe(300);
  });

  test("small answers after a large one do not make the server forget to go on", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    server.tool("huge", {}, () => "x".repeat(2 * kilobyte * kilobyte));
    server.tool("tiny", {}, () => "x");
    server.tool("late", {}, async () => {
      await released;
      return "small";
    });
    const { client, read } = await serveUnread(server, "2026-07-28");
    call(client, 1, "late");
    await nextTurn();
    call(client, 2, "huge");
    await nextTurn();
    await nextTurn();
    release();
    await nextTurn();
    call(client, 3, "tiny");
    await nextTurn();
    read();
    await until(() => client.received.length === 3);
    call(client, 4, "tiny");
    await client.waitFor((message) => "id" in message && message.id === 4);
    await client.close();
  });

  test("progress and logs for a client that does not read are dropped past a bound", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("chatty", {}, async (_, ctx) => {
      for (let at = 1; at <= 20_000; at++) {
        ctx.progress(at, undefined, "x".repeat(kilobyte));
        if (at % 100 === 0) await nextTurn();
      }
      return "done";
    });
    const { client, output, read } = await serveUnread(server, "2026-07-28");
    call(client, 1, "chatty", { progressToken: "t" });
    for (let at = 0; at < 300; at++) await nextTurn();
    expect(output.writableLength).toBeLessThan(3 * kilobyte * kilobyte);
    read();
    await client.waitFor((message) => "id" in message && message.id === 1, 10_000);
    const sent = client
      .notifications("notifications/progress")
      .map((message) => paramsOf(message)["progress"]);
    expect(sent.length).toBeLessThan(4000);
    expect(sent).toEqual(sent.toSorted((a, b) => Number(a) - Number(b)));
    await client.close();
  });

  test("a subscriber that does not read is told everything once it reads, merged", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("huge", {}, () => "x".repeat(2 * kilobyte * kilobyte));
    server.resource("note:///a", {}, () => "a");
    const { client, read } = await serveUnread(server, "2026-07-28");
    const filter = { toolsListChanged: true, resourceSubscriptions: ["note:///a"] };
    const params = client.withMeta({ notifications: filter });
    client.send({ jsonrpc: "2.0", id: "sub", method: "subscriptions/listen", ...params });
    await nextTurn();
    call(client, 1, "huge");
    await nextTurn();
    await nextTurn();
    for (let at = 0; at < 10_000; at++) await server.resources.updated("note:///a");
    server.tool("another", {}, () => "x");
    read();
    await client.waitFor(
      (message) => "method" in message && message.method === "notifications/tools/list_changed",
    );
    expect(client.notifications("notifications/resources/updated").length).toBeLessThan(10);
    await client.close();
  });

  test("over real pipes: little runs while nobody reads, everything is answered then, and nothing is warned of", async () => {
    const child = await startChild("server");
    child.process.stdout?.pause();
    // So long that only a few come with one read, however late it is.
    const pad = "x".repeat(16 * kilobyte);
    const params = child.client.withMeta({ name: "big", arguments: { bytes: 64 * kilobyte, pad } });
    for (let id = 0; id < 300; id++) {
      child.client.send({ jsonrpc: "2.0", id, method: "tools/call", ...params });
      await nextTurn();
    }
    await until(() => child.stderr().includes("paused"));
    expect(lastRun(child.stderr())).toBeLessThan(100);
    child.process.stdout?.resume();
    await until(() => child.client.received.length === 300, 10_000);
    // Standard error is another pipe, which may come later.
    await until(() => lastRun(child.stderr()) === 300);
    await child.client.close();
    expect(child.stderr()).not.toContain("Warning");
  });
});

/** The number in the last `runs <n>` that the fixture printed. */
function lastRun(stderr: string): number {
  return Number([...stderr.matchAll(/runs (\d+)$/gm)].at(-1)?.[1] ?? 0);
}
