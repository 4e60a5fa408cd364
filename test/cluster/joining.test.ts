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
