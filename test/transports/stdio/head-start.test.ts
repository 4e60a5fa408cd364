// A report of progress leaves before the answer of its call: in a write of its own, and only where that matters.
import { Writable, PassThrough } from "node:stream";
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
import { connect, protocolRevisions } from "halyard/testing";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { connectHttp } from "../../support/http-client.ts";
import { recordingLogger } from "../../support/log.ts";
import { modernRequest } from "../../support/raw.ts";
import { until } from "../../support/turns.ts";

afterEach(() => void vi.useRealTimers());

function reportingServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("sync", {}, (_, ctx) => (ctx.progress(1), "done"));
  server.tool("async", {}, async (_, ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    ctx.progress(1);
    return "done";
  });
  server.tool("fails", {}, (_, ctx) => {
    ctx.progress(1);
    throw new Error("no");
  });
  server.tool("blocks", {}, (_, ctx) => {
    ctx.progress(1);
    const end = performance.now() + 20;
    while (performance.now() < end);
    return "done";
  });
  server.tool("quiet", {}, () => "done");
  return server;
}

test.each(["sync", "async", "fails", "blocks"])(
  "%s: the report and the answer are two writes",
  async (name) => {
    const writes: string[] = [];
    const input = new PassThrough();
    const output = new Writable({
      write: (chunk: Buffer, _, done) => {
        writes.push(String(chunk));
        done();
      },
    });
    const stdio = await serveStdio(reportingServer(), { input, output });
    onTestFinished(async () => {
      input.end();
      await stdio.closed;
    });
    const request = modernRequest(1, "tools/call", { name }, { progressToken: "token" });
    input.write(`${JSON.stringify(request)}\n`);
    await until(() => writes.join("").includes('"id":1'));
    expect(writes).toHaveLength(2);
    expect(writes[0]).toContain("notifications/progress");
  },
);

describe.each(protocolRevisions)("$date", ({ date: revision }) => {
  const call = (name: string, token?: string): object => ({
    name,
    ...(token !== undefined && { _meta: { progressToken: token } }),
  });

  test("only an answer right after a report waits, on a pipe", async () => {
    const client = await connect(reportingServer(), { revision });
    onTestFinished(() => client.close());
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    // Without a token nothing is reported.
    await client.request("tools/call", { ...call("sync") });
    await client.request("tools/call", { ...call("quiet", "a") });
    let isAnswered = false;
    const answered = client.request("tools/call", { ...call("sync", "b") }).then(() => (isAnswered = true));
    await client.waitFor((message) => "method" in message && message.method === "notifications/progress");
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    await answered;
  });

  test("no answer over HTTP waits", async () => {
    const client = await connectHttp(reportingServer(), { revision });
    onTestFinished(() => client.close());
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    await client.request("tools/call", { ...call("sync", "a") });
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    expect(timers.mock.calls.filter(([, ms]) => ms === 1)).toEqual([]);
  });
});
