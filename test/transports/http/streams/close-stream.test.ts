// ctx.closeStream: a call that takes long lets its connection go, and the client comes back for the result.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer, type Servable } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { connect, protocolRevisions } from "halyard/testing";
import { afterEach, describe, expect, test } from "vitest";

type Send = (init: RequestInit) => Promise<Response>;
type Edge = (server: Servable) => Promise<{ readonly send: Send; readonly close: () => Promise<void> }>;

const retryMs = 250;

const edges: Record<string, Edge> = {
  serveHttp: async (server) => {
    const { url, close } = await serveHttp(server, { port: 0, retryMs });
    return { send: (init) => fetch(url, init), close };
  },
  nodeHandler: async (server) => {
    const handler = nodeHandler(server, { retryMs });
    const http = createServer((request, response) => void handler(request, response));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const close = async (): Promise<void> => {
      await handler.close();
      http.close();
      http.closeAllConnections();
    };
    return { send: (init) => fetch(`http://127.0.0.1:${port}/mcp`, init), close };
  },
  fetchHandler: async (server) => {
    const handler = fetchHandler(server, { retryMs });
    const send: Send = (init) => handler(new Request("http://127.0.0.1/mcp", init));
    return { send, close: () => handler.close() };
  },
};

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server whose tool closes its connection, and returns when the test says so. */
function slowServer(mode: "both" | "stateless" = "both"): { server: McpServer; finish: () => void } {
  const server = new McpServer({ name: "slow", version: "1.0.0" }, { mode });
  let finish = (): void => {};
  const told = new Promise<void>((resolve) => {
    finish = resolve;
  });
  server.tool("slow", {}, async (_, ctx) => {
    ctx.closeStream();
    ctx.progress(1, 2);
    await told;
    return "Done";
  });
  return { server, finish };
}

const headersOf = (revision: string, session: string | null): Record<string, string> => ({
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  ...(revision >= "2025-06-18" ? { "mcp-protocol-version": revision } : {}),
  ...(session === null ? {} : { "mcp-session-id": session }),
});

async function initialize(send: Send, revision: string): Promise<Record<string, string>> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const response = await send({ method: "POST", headers: headersOf(revision, null), body });
  await response.text();
  return headersOf(revision, response.headers.get("mcp-session-id"));
}

function callWith(meta: object): string {
  const params = { name: "slow", _meta: { progressToken: "p", ...meta } };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
}

const slowCall = callWith({});
const modernSlowCall = callWith({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
});

/** The messages of a stream that has ended. */
function messagesOf(events: string): unknown[] {
  return [...events.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as unknown);
}

const progress = { method: "notifications/progress", params: { progressToken: "p", progress: 1, total: 2 } };
const done = { id: 1, result: { content: [{ type: "text", text: "Done" }] } };

describe.each(Object.entries(edges))("ctx.closeStream · %s", (_, open) => {
  async function start(...args: Parameters<typeof slowServer>): Promise<{ send: Send; finish: () => void }> {
    const { server, finish } = slowServer(...args);
    const { send, close } = await open(server);
    closing.push(close);
    return { send, finish };
  }

  test.each(["while the call still runs", "after the call has ended"])(
    "ends the response after an id and a retry; a client that comes back %s gets the rest once [RESUME-PRIMING, RESUME-SERVER-CLOSE, RESUME-RETRY-SEND, RESUME-ALWAYS-GET, RESUME-REPLAY]",
    async (when) => {
      const { send, finish } = await start();
      const headers = await initialize(send, "2025-11-25");
      const response = await send({ method: "POST", headers, body: slowCall });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const events = await response.text();
      expect(events).toMatch(new RegExp(`^id: (\\S+)\nretry: ${retryMs}\ndata: \n\nretry: ${retryMs}\n\n$`));
      const lastEventId = /^id: (\S+)/.exec(events)?.[1] ?? "";

      if (when.startsWith("after")) {
        finish();
        await new Promise(setImmediate);
      }
      const resumed = await send({ headers: { ...headers, "last-event-id": lastEventId } });
      finish();
      expect(messagesOf(await resumed.text())).toMatchObject([progress, done]);
    },
  );

  test.each(protocolRevisions.filter(({ era, date }) => era === "legacy" && date < "2025-11-25"))(
    "does nothing under $date, whose clients would not come back",
    async ({ date }) => {
      const { send, finish } = await start();
      const headers = await initialize(send, date);
      const response = await send({ method: "POST", headers, body: slowCall });
      finish();
      expect(messagesOf(await response.text())).toMatchObject([progress, done]);
    },
  );

  test("does nothing without a session to come back to", async () => {
    const { send, finish } = await start("stateless");
    const response = await send({ method: "POST", headers: headersOf("2025-11-25", null), body: slowCall });
    finish();
    expect(messagesOf(await response.text())).toMatchObject([progress, done]);
  });

  test("does nothing for a modern client, whose streams cannot be resumed [RESUME-MODERN-NONE]", async () => {
    const { send, finish } = await start();
    const headers = { ...headersOf("2026-07-28", null), "mcp-method": "tools/call", "mcp-name": "slow" };
    const response = await send({ method: "POST", headers, body: modernSlowCall });
    finish();
    const events = await response.text();
    expect(events).not.toMatch(/^(?:id|retry):/m);
    expect(messagesOf(events)).toMatchObject([progress, done]);
  });

  test("does nothing for a client that takes no stream", async () => {
    const { send, finish } = await start();
    const headers = { ...(await initialize(send, "2025-11-25")), accept: "application/json" };
    finish();
    const response = await send({ method: "POST", headers, body: slowCall });
    expect(await response.json()).toMatchObject(done);
  });
});

test.each(protocolRevisions)("ctx.closeStream does nothing over a pipe, under $date", async ({ date }) => {
  const { server, finish } = slowServer();
  finish();
  const client = await connect(server, { revision: date });
  closing.push(() => client.close());
  expect(await client.request("tools/call", { name: "slow" })).toMatchObject(done.result);
});
