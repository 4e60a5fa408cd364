// A client that goes away, as fetch runtimes tell it.
import { McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { expect, onTestFinished, test, vi } from "vitest";
import { initializeRequest, newestLegacy } from "../../support/raw.ts";
import { deferred, eventually } from "../../support/turns.ts";

const url = "http://localhost/mcp";
const revision = "2026-07-28";

/** A call of a tool that reports progress, and then waits for its signal. */
function callOf(signal?: AbortSignal): Request {
  const _meta = {
    progressToken: 1,
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", _meta } };
  const headers = {
    "content-type": "application/json",
    "mcp-protocol-version": revision,
    "mcp-method": "tools/call",
    "mcp-name": "wait",
  };
  return new Request(url, { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) });
}

const ways: [string, (response: Response, aborting: AbortController) => unknown][] = [
  ["the response is no longer read", (response) => response.body?.cancel()],
  ["the request is aborted", (_, aborting) => aborting.abort()],
];

test.each(ways)(
  "fetchHandler aborts the signal of a modern call when %s [HTTP26-DISCONNECT-CANCEL]",
  async (_, leave) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const aborted = vi.fn<() => void>();
    server.tool("wait", {}, (_args, ctx) => {
      ctx.progress(1);
      return new Promise<string>((resolve) => {
        ctx.signal.addEventListener("abort", () => {
          aborted();
          resolve("Too late");
        });
      });
    });
    const handler = fetchHandler(server);
    const aborting = new AbortController();
    const response = await handler(callOf(aborting.signal));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await leave(response, aborting);
    await eventually(() => expect(aborted).toHaveBeenCalledOnce());
    await eventually(() => expect(handler.stats().inFlight).toBe(0));
    await handler.close();
  },
);

test("a client of a session that goes before its call opens a stream costs nothing, and can be asked nothing", async () => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const [began, gate, failed] = [deferred(), deferred(), deferred<Error>()];
  server.tool("late", {}, async (_args, ctx) => {
    began.resolve();
    await gate.promise;
    ctx.log("info", "x".repeat(200_000));
    await ctx.roots().catch((error: Error) => failed.resolve(error));
    return "done";
  });
  const handler = fetchHandler(server, { resumeWindowMs: 1 });
  onTestFinished(() => handler.close());
  const post = (message: object, headers: object = {}, signal?: AbortSignal): Promise<Response> => {
    const all = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    };
    const init = { method: "POST", headers: all, body: JSON.stringify(message), ...(signal && { signal }) };
    return handler(new Request(url, init));
  };
  const begun = await post(initializeRequest(0, newestLegacy, { capabilities: { roots: {} } }));
  const session = { "mcp-session-id": String(begun.headers.get("mcp-session-id")) };
  const aborting = new AbortController();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "late" } };
  const response = post(call, session, aborting.signal);
  await began.promise;
  aborting.abort();
  expect((await response).status).toBe(499);
  gate.resolve();
  expect((await failed.promise).message).toContain("can no longer be reached");
  await eventually(() => expect(handler.stats()).toMatchObject({ inFlight: 0, unsentBytes: 0 }));
});

test("a stream whose client has left ends without an error, which servers such as that of Hono would print", async () => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("wait", {}, (_args, ctx) => {
    ctx.progress(1);
    return new Promise<string>(() => {});
  });
  const aborting = new AbortController();
  const response = await fetchHandler(server)(callOf(aborting.signal));
  const reader = response.body?.getReader();
  await reader?.read();
  const rest = reader?.read();
  aborting.abort();
  expect(await rest).toEqual({ done: true, value: undefined });
});
