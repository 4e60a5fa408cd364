// A node that cannot join: it says so, and joins and leaves like any other when it is served again.
import { PassThrough } from "node:stream";
import { type Backplane, McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { expect, onTestFinished, test } from "vitest";
import { backplaneThat, type Engine } from "../support/backplane.ts";
import { recordingLogger } from "../support/log.ts";
import { initializeRequest } from "../support/raw.ts";
import { until } from "../support/turns.ts";

/** A server on an engine that fails while `isDown`, and the engines that it has not closed. */
function serverOnTrial() {
  const state = { isDown: true };
  const open = new Set<Engine>();
  const backplane: Backplane = backplaneThat((engine) => {
    if (state.isDown) throw new Error("down");
    open.add(engine);
    return { close: () => (open.delete(engine), engine.close()) };
  }, memoryBackplane());
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { backplane, logger });
  return { server, logger, open, recover: () => void (state.isDown = false) };
}

const serves: Readonly<Record<string, (server: McpServer) => Promise<{ close(): Promise<void> }>>> = {
  serveHttp: (server) => serveHttp(server, { port: 0, handleSignals: false }),
  serveStdio: (server) => serveStdio(server, { input: new PassThrough(), output: new PassThrough() }),
};

test.each(Object.entries(serves))(
  "%s that is repeated until the engine is there leaves when it closes",
  async (_, serve) => {
    const { server, open, recover } = serverOnTrial();
    for (let attempt = 0; attempt < 2; attempt++) await expect(serve(server)).rejects.toThrow("down");
    recover();
    const served = await serve(server);
    expect(server.cluster.nodes()).toHaveLength(1);
    await served.close();
    expect(server.cluster.nodes()).toEqual([]);
    expect(open.size).toBe(0);
  },
);

test.each([
  ["nodeHandler", nodeHandler],
  ["fetchHandler", fetchHandler],
])("%s logs that it cannot join, although nobody awaits ready", async (_, handle) => {
  const { server, logger } = serverOnTrial();
  const handler = handle(server);
  onTestFinished(() => handler.close());
  await handler.ready.catch(() => {});
  expect(logger.entries).toMatchObject([{ level: "error", message: "Joining the cluster failed" }]);
});

test("a push of another node reaches a client on standard input", async () => {
  const backplane = memoryBackplane();
  const [server, other] = [1, 2].map(() => new McpServer({ name: "test", version: "1.0.0" }, { backplane }));
  let session = "";
  server?.onInitialized((source) => void (session = source.session ?? ""));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stdio = await serveStdio(server!, { input, output });
  const http = await serveHttp(other!, { port: 0, handleSignals: false });
  onTestFinished(async () => void (await Promise.all([stdio.close(), http.close()])));
  let heard = "";
  output.on("data", (chunk) => (heard += String(chunk)));
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  for (const message of [initializeRequest(1, "2025-11-25"), initialized]) {
    input.write(`${JSON.stringify(message)}\n`);
  }
  await until(() => session !== "");
  const params = { level: "info", data: "from the other node" };
  expect(await other?.push.toSession(session, "notifications/message", params)).toBe(true);
  await until(() => heard.includes("from the other node"));
});

test("an engine that fails for a while is one line in the log for each outage, not one for each beat", async () => {
  const state = { isDown: false, failed: 0, sent: 0 };
  const backplane = backplaneThat(
    (engine) => ({
      send: async (to, text) => {
        if (!state.isDown) return void (await engine.send(to, text), state.sent++);
        state.failed++;
        throw new Error("down");
      },
    }),
    memoryBackplane({ leaseMs: 100 }),
  );
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { backplane, logger });
  const served = await serveHttp(server, { port: 0, handleSignals: false });
  onTestFinished(() => served.close());
  const lines = (): number =>
    logger.entries.filter(({ message }) => message === "Sending a message to all nodes failed").length;
  for (const outage of [1, 2]) {
    state.isDown = true;
    const failed = state.failed + 5;
    await until(() => state.failed >= failed);
    expect(lines()).toBe(outage);
    state.isDown = false;
    const sent = state.sent + 2;
    await until(() => state.sent >= sent);
  }
});
