// Other code has answered, ended or destroyed the response: the call counts as disconnected, and nothing throws.
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { fetchHandler } from "halyard/fetch";
import { type NodeHandler, nodeHandler } from "halyard/node";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { modernPost, openSession, post, sendTo } from "../support/http.ts";
import { httpServer, modernCall, toolCall } from "../support/http-server.ts";
import { newestLegacy } from "../support/raw.ts";
import { until } from "../support/turns.ts";

const untilEver = (holds: () => boolean): Promise<void> => until(holds, Number.POSITIVE_INFINITY);

/** What others do to a response that is being waited for. */
const deeds: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "answers it": (response) => void response.writeHead(503).end("too slow"),
  "answers half of it": (response) => void response.writeHead(503).write("too"),
  "ends it": (response) => void response.end(),
  "destroys it": (response) => void response.destroy(),
  "destroys its connection": (response) => void response.req.socket.destroy(),
};

async function listen(handler: NodeHandler, seen: ServerResponse[]): Promise<number> {
  const app = express();
  app.use((_, response, next) => (seen.push(response), next()));
  app.all("/mcp", handler);
  const http = createServer(app).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  return (http.address() as AddressInfo).port;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
});

describe.each(Object.entries(deeds))("other code %s", (what, deed) => {
  test("before a modern call has its stream: the call is cancelled", async () => {
    const { server, gate, waiting, aborted } = httpServer();
    const handler = nodeHandler(server, { streamAfterMs: 3000, keepAliveMs: 2000, graceMs: 50 });
    const seen: ServerResponse[] = [];
    const port = await listen(handler, seen);
    const asked = sendTo(port, modernPost(modernCall(1, "wait"))).catch(() => {});
    await untilEver(() => waiting() === 1);
    deed(seen[0] as ServerResponse);
    // After half a response the connection stays open, so nothing aborts the call.
    if (what !== "answers half of it") await untilEver(() => aborted.length === 1);
    await vi.advanceTimersByTimeAsync(10_000);
    gate.resolve();
    await untilEver(() => handler.stats().inFlight === 0);
    (await asked)?.abort();
  });

  test("before a legacy call has its stream: the call continues, and nothing is written for it", async () => {
    const { server, gate, waiting, aborted } = httpServer();
    const handler = nodeHandler(server, { streamAfterMs: 3000, keepAliveMs: 2000, graceMs: 50 });
    const seen: ServerResponse[] = [];
    const port = await listen(handler, seen);
    const session = await openSession({ send: (request) => sendTo(port, request) }, newestLegacy);
    const asked = sendTo(port, post(toolCall(1, "wait"), session.headers)).catch(() => {});
    await untilEver(() => waiting() === 1);
    deed(seen.at(-1) as ServerResponse);
    await vi.advanceTimersByTimeAsync(10_000);
    gate.resolve();
    await untilEver(() => handler.stats().inFlight === 0);
    expect(aborted).toEqual([]);
    (await asked)?.abort();
  });
});

test("other code ends the stream of a call: it is cancelled, and nothing more is written", async () => {
  const { server, gate, waiting, aborted } = httpServer();
  const handler = nodeHandler(server, { streamAfterMs: 3000, keepAliveMs: 2000, graceMs: 50 });
  const seen: ServerResponse[] = [];
  const port = await listen(handler, seen);
  const asked = sendTo(port, modernPost(modernCall(1, "wait"))).catch(() => {});
  await untilEver(() => waiting() === 1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(seen[0]?.headersSent).toBe(true);
  seen[0]?.end();
  await vi.advanceTimersByTimeAsync(10_000);
  gate.resolve();
  await untilEver(() => handler.stats().inFlight === 0);
  expect(aborted.length).toBeLessThanOrEqual(1);
  (await asked)?.abort();
});

test("a web response that is never read, or is dropped, is one whose client has gone", async () => {
  const { server, gate, waiting, aborted } = httpServer();
  const handler = fetchHandler(server, { streamAfterMs: 3000, stallMs: 8000, graceMs: 50 });
  const { headers, body } = modernPost(modernCall(1, "wait"));
  const request = { method: "POST", headers: headers as Record<string, string>, body: body as string };
  const answered = handler(new Request("http://localhost/mcp", request));
  await untilEver(() => waiting() === 1);
  await vi.advanceTimersByTimeAsync(40_000);
  const response = await answered;
  expect(aborted).toEqual(["The client has disconnected"]);
  gate.resolve();
  await untilEver(() => handler.stats().inFlight === 0);
  await expect(response.text()).rejects.toThrow();
  await handler.close();
});
