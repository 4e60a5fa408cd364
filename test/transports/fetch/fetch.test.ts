// What only the fetch handler has: the signal of a request, the body of a response that is read or left, and its pace.
import { fetchHandler } from "halyard/fetch";
import { expect, onTestFinished, test } from "vitest";
import { modernPost, openSession, post, type RawRequest } from "../../support/http.ts";
import { openEdge } from "../../support/http.ts";
import { discover, httpServer, modernCall, toolCall } from "../../support/http-server.ts";
import { modernRequest, newestLegacy } from "../../support/raw.ts";
import { nextTurn, until } from "../../support/turns.ts";

const toRequest = ({ headers, body }: RawRequest, signal?: AbortSignal): Request =>
  new Request("http://localhost/mcp", {
    method: "POST",
    headers: Object.entries(headers ?? {}).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
    body: String(body),
    ...(signal && { signal }),
  });

const listening = modernPost(
  modernRequest(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
);

function open(
  options: Parameters<typeof httpServer>[0] = {},
): ReturnType<typeof httpServer> & { readonly handler: ReturnType<typeof fetchHandler> } {
  const made = httpServer(options);
  const handler = fetchHandler(made.server, { graceMs: 20 });
  onTestFinished(() => handler.close());
  return { ...made, handler };
}

test("fetchHandler cancels a call when the signal of its request aborts, and still settles the response [HTTP26-DISCONNECT-CANCEL]", async () => {
  const { handler, aborted, waiting } = open();
  const controller = new AbortController();
  const response = handler(toRequest(modernPost(modernCall(1, "wait")), controller.signal));
  await until(() => waiting() === 1);
  controller.abort();
  expect((await response).body).toBeNull();
  expect(aborted).toEqual(["The client has disconnected"]);
});

test("fetchHandler runs nothing for a request whose signal has aborted before", async () => {
  const { handler, waiting } = open();
  const request = toRequest(modernPost(modernCall(1, "wait")), AbortSignal.abort());
  await handler(request);
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(waiting()).toBe(0);
  expect(handler.stats().inFlight).toBe(0);
});

test("fetchHandler unsubscribes when the body of a listen response is cancelled [HTTP26-DISCONNECT-CANCEL]", async () => {
  const { handler, server } = open();
  const response = await handler(toRequest(listening));
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("acknowledged");
  expect(handler.stats().subscriptions).toBe(1);
  await reader?.cancel();
  await until(() => handler.stats().subscriptions === 0);
  expect(await server.push.count()).toBe(0);
  expect(handler.stats().inFlight).toBe(0);
});

test("fetchHandler cancels a streamed call when its body is cancelled [HTTP26-DISCONNECT-CANCEL]", async () => {
  const { handler, aborted, waiting } = open();
  const request = modernPost(modernCall(1, "wait"), { accept: "text/event-stream" });
  const response = await handler(toRequest(request));
  await until(() => waiting() === 1);
  await response.body?.cancel();
  await until(() => aborted.length === 1);
});

test("fetchHandler does not cancel a legacy call when its body is cancelled [HTTP-DISCONNECT-NOT-CANCEL]", async () => {
  const { server, aborted, gate, waiting } = httpServer();
  const edge = await openEdge("fetchHandler", server);
  const session = await openSession(edge, newestLegacy);
  const reply = await edge.send(
    post(toolCall(1, "wait"), { ...session.headers, accept: "text/event-stream" }),
  );
  await until(() => waiting() === 1);
  reply.abort();
  await reply.ended();
  expect(aborted).toEqual([]);
  gate.resolve();
  await until(() => edge.stats().inFlight === 0);
});

test("fetchHandler takes no more than so much for a reader that does not read, and continues when it does", async () => {
  const { handler, server } = open();
  let sent = 0;
  server.tool("flood", {}, (_, ctx) => {
    for (; sent < 10_000; sent++) ctx.progress(sent + 1, undefined, "x".repeat(100));
    return "done";
  });
  const response = await handler(toRequest(modernPost(modernCall(1, "flood", {}, { progressToken: 1 }))));
  await until(() => sent === 10_000);
  const text = await response.text();
  expect(text).toContain('"done"');
  const received = text.split("\n\n").length;
  expect(received).toBeGreaterThan(100);
  expect(text.length).toBeLessThan(200 * 1024);
});

test("fetchHandler delivers a change to a slow reader once it reads again", async () => {
  const { handler, server } = open();
  const response = await handler(toRequest(listening));
  const reader = response.body?.getReader();
  await reader?.read();
  const handles = Array.from({ length: 2000 }, (_, at) => server.tool(`tool-${at}`, {}, () => "x"));
  expect(handles).toHaveLength(2000);
  await nextTurn();
  expect(handler.stats().subscriptions).toBe(1);
  const first = await reader?.read();
  expect(new TextDecoder().decode(first?.value)).toContain("tools/list_changed");
  await reader?.cancel();
});

test("fetchHandler trusts the Host header before the URL of a request", async () => {
  const { handler } = open();
  const { headers, body } = modernPost(discover, { host: "evil.example" });
  expect((await handler(toRequest({ headers: headers ?? {}, body }))).status).toBe(403);
  const outside = new Request("http://evil.example/mcp", { method: "POST" });
  expect((await handler(outside)).status).toBe(403);
});
