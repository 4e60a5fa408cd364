// The end of a stdio server, in a process of its own: prompt, clean, and fair to what still runs.
import { describe, expect, test } from "vitest";
import { startChild } from "../../support/child.ts";
import { listen, paramsOf } from "../../support/listen.ts";
import { until } from "../../support/turns.ts";

const cleanExit = { code: 0, signal: null };

/** How the client makes the server end. */
const ends = [
  ["the end of its input", "eof"],
  ["SIGTERM", "SIGTERM"],
  ["SIGINT", "SIGINT"],
] as const;

describe.each(ends)("at %s", (_, how) => {
  const end = (child: Awaited<ReturnType<typeof startChild>>): void => {
    if (how === "eof") child.process.stdin?.end();
    else child.process.kill(how);
  };

  // Long before the 60 seconds that calls would get, or no test would wait for it.
  test("a server with nothing to do exits at once with code 0, even with a timer left [STDIO-SHUTDOWN-EOF, STDIO-SHUTDOWN-SERVER, INIT-SHUTDOWN-STDIO-SERVER]", async () => {
    const child = await startChild("server", { args: ["60000"] });
    await child.client.request("tools/call", { name: "timer" });
    end(child);
    expect(await child.exited).toEqual(cleanExit);
  });

  test("a running call may finish, and is answered", async () => {
    const child = await startChild("server", { args: ["60000"] });
    const call = child.client.request("tools/call", { name: "sleep", arguments: { ms: 150 } });
    await child.client.request("server/discover");
    end(child);
    expect(await call).toMatchObject({ content: [{ text: "slept" }] });
    expect(await child.exited).toEqual(cleanExit);
  });

  test("a call that never ends is cancelled after the grace period, and does not keep the server", async () => {
    const child = await startChild("server", { args: ["50"] });
    const params = child.client.withMeta({ name: "never" });
    child.client.send({ jsonrpc: "2.0", id: "never", method: "tools/call", ...params });
    await child.client.request("server/discover");
    end(child);
    expect(await child.exited).toEqual(cleanExit);
    expect(child.stderr()).toContain("aborted");
    expect(child.client.received.filter((message) => "id" in message && message.id === "never")).toEqual([]);
  });

  test("subscriptions get their closing result and their cancellation [SUB-GRACEFUL-RESULT, SUB-GRACEFUL-META, SUB-SERVER-CANCELLED]", async () => {
    const child = await startChild("server");
    await listen(child.client, { toolsListChanged: true }, 0);
    await listen(child.client, { toolsListChanged: true }, "");
    end(child);
    expect(await child.exited).toEqual(cleanExit);
    const results = child.client.received.filter((message) => "result" in message);
    expect(results).toMatchObject([
      { id: 0, result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 0 } } },
      { id: "", result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": "" } } },
    ]);
    const cancelled = child.client.notifications("notifications/cancelled").map(paramsOf);
    expect(cancelled.map(({ requestId }) => requestId)).toEqual([0, ""]);
  });
});

describe("at the end", () => {
  test("what the client said before it closed its end is still answered", async () => {
    const child = await startChild("server");
    const params = child.client.withMeta({ name: "sleep", arguments: { ms: 20 } });
    for (let id = 0; id < 50; id++) {
      child.client.send({ jsonrpc: "2.0", id, method: "tools/call", ...params });
    }
    await child.client.close();
    expect(child.client.received).toHaveLength(50);
  });

  test("a client that has stopped reading does not keep the server alive", async () => {
    const child = await startChild("server", { args: ["100"] });
    child.process.stdout?.pause();
    const params = child.client.withMeta({ name: "big", arguments: { bytes: 900_000 } });
    child.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", ...params });
    await until(() => child.stderr().includes("runs 1"));
    const exited = new Promise((resolve) => child.process.on("exit", (code) => resolve(code)));
    child.process.kill("SIGTERM");
    expect(await exited).toBe(0);
  });

  test("a second signal ends a server that is still waiting for its calls", async () => {
    const child = await startChild("server", { args: ["60000"] });
    const params = child.client.withMeta({ name: "never" });
    child.client.send({ jsonrpc: "2.0", id: "never", method: "tools/call", ...params });
    await child.client.request("server/discover");
    child.process.kill("SIGTERM");
    const again = setInterval(() => child.process.kill("SIGTERM"), 50);
    await child.exited;
    clearInterval(again);
  });
});
