// What a client writes to a stdio server, as a server without Halyard reads it.
import { fileURLToPath } from "node:url";
import type { JsonObject } from "halyard";
import type { CommandTarget, ConnectOptions } from "halyard/client";
import { describe, expect, test } from "vitest";
import { until } from "../../support/turns.ts";
import { start, type Started } from "./start.ts";

const path = fileURLToPath(new URL("fixtures/recorder.mjs", import.meta.url));

function recorder(probe: string): CommandTarget {
  return { command: process.execPath, args: [path, probe] };
}

/** What the server has read so far. */
function readBy({ stderr }: Started): JsonObject[] {
  return stderr().map((line) => JSON.parse(line) as JsonObject);
}

function methodsReadBy(started: Started): unknown[] {
  return readBy(started).map(({ method }) => method);
}

describe.each([
  ["modern", "modern"],
  ["legacy", "-32601"],
])("to a %s server", (era, probe) => {
  const options: ConnectOptions = { roots: [{ uri: "file:///work" }] };

  test("each message is one line of JSON, whatever it carries [STDIO-FRAME-NEWLINE, STDIO-SINGLE-MESSAGE, STDIO-STDIN-CLEAN]", async () => {
    const started = await start(recorder(probe), options);
    const args = { text: "one\ntwo\r\n\u2028three\u2029\u0085\0" };
    const { content } = await started.client.callTool("echo", args);
    expect(content).toEqual([{ type: "text", text: JSON.stringify(args) }]);
    await until(() => methodsReadBy(started).includes("tools/call"));
    const messages = readBy(started);
    expect(messages.every((message) => message["jsonrpc"] === "2.0" && "method" in message)).toBe(true);
    expect(messages.at(-1)?.["params"]).toMatchObject({ name: "echo", arguments: args });
  });

  test("a call that is cancelled sends notifications/cancelled with its id [STDIO-MODERN-CANCEL]", async () => {
    const started = await start(recorder(probe), options);
    const stopping = new AbortController();
    const call = started.client.callTool("hold", {}, { signal: stopping.signal });
    await until(() => methodsReadBy(started).includes("tools/call"));
    stopping.abort(new Error("Not needed"));
    await expect(call).rejects.toThrow("Not needed");
    await until(() => methodsReadBy(started).includes("notifications/cancelled"));
    const [held, cancelled] = readBy(started).slice(-2);
    expect(cancelled).toMatchObject({ params: { requestId: held?.["id"] } });
  });

  test("a request of the server is answered by a legacy client, never by a modern one [STDIO-MODERN-NO-CLIENT-RESPONSES, BASE-CLIENT-NO-RESPONSES]", async () => {
    const started = await start(recorder(probe), options);
    await started.client.callTool("ask", {});
    await started.client.callTool("echo", {});
    await until(() => methodsReadBy(started).filter((method) => method === "tools/call").length === 2);
    const responses = (): unknown[] => readBy(started).filter((message) => !("method" in message));
    // Only a modern client is done when the second call has been read.
    await until(() => era === "modern" || responses().length > 0);
    const answer = { jsonrpc: "2.0", id: "question", result: { roots: [{ uri: "file:///work" }] } };
    expect(responses()).toEqual(era === "legacy" ? [answer] : []);
  });
});

test("a modern request carries its metadata in the message [STDIO-MODERN-META-INLINE]", async () => {
  const started = await start(recorder("modern"), { info: { name: "tester", version: "2.0.0" } });
  await started.client.callTool("echo", {});
  await until(() => methodsReadBy(started).includes("tools/call"));
  for (const { params } of readBy(started))
    expect((params as JsonObject)["_meta"]).toMatchObject({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "tester", version: "2.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    });
});

describe("the first message is server/discover [STDIO-PROBE-DISCOVER, STDIO-PROBE-RESULT]", () => {
  test("a result means a modern server, which is not sent initialize", async () => {
    const started = await start(recorder("modern"));
    expect(started.client.revision).toBe("2026-07-28");
    await started.client.callTool("echo", {});
    await until(() => methodsReadBy(started).includes("tools/call"));
    expect(methodsReadBy(started)).toEqual(["server/discover", "tools/call"]);
  });

  test.each(["-32601", "-32600", "-32602", "-32603", "-32000", "1"])(
    "the error %s means a legacy server [STDIO-PROBE-NOT-ONE-CODE]",
    async (code) => {
      const started = await start(recorder(code));
      expect(started.client.revision).toBe("2025-11-25");
      await until(() => methodsReadBy(started).length === 3);
      expect(methodsReadBy(started)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    },
  );

  test("a server that exits is started again, and is a legacy one", async () => {
    const started = await start(recorder("exit"));
    expect(started.client.revision).toBe("2025-11-25");
    await until(() => methodsReadBy(started).length === 3);
    expect(methodsReadBy(started)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });
});
