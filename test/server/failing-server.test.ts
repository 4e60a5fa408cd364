// A server with an internal failure: the peer gets an error, the log has the details, and the pipe continues.
import { McpServer } from "halyard";
import { Pipe, portOf, type ServerPort } from "halyard/transport";
import { expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { until } from "../support/turns.ts";

test("Pipe answers with an error id when the server itself fails, and takes the next message", async () => {
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
  const failures = [new Error("secret"), undefined];
  const port = portOf(server);
  const failing: ServerPort = {
    ...port,
    handleRaw: (text, exchange) => {
      const failure = failures.shift();
      return failure === undefined ? port.handleRaw(text, exchange) : Promise.reject(failure);
    },
  };
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text) > 0, destroy: () => {} };
  const pipe = new Pipe(failing, output, { transport: "test" });
  for (const id of [1, 2]) pipe.receive(JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }));
  await until(() => written.length === 2);
  const failed = JSON.parse(written.find((text) => text.includes("error id")) ?? "") as {
    error: { code: number; data: { errorId: string } };
  };
  expect(failed.error.code).toBe(-32603);
  expect(written.join("")).not.toContain("secret");
  expect(written.join("")).toContain('"id":2');
  expect(logger.entries).toMatchObject([{ level: "error", details: { errorId: failed.error.data.errorId } }]);
  await pipe.end(0);
});
