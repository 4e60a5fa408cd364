// rateLimit: how often a caller may ask and how much of its may run, refused with 429 before anything is read.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError, McpServer, type Principal } from "halyard";
import { fetchHandler } from "halyard/fetch";
import type { RequestHead } from "halyard/auth";
import { defaultCallerLimits, type HttpOptions, nodeHandler } from "halyard/node";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { stoppedClock } from "../../support/clock.ts";
import { describeEdges, modernPost, openEdge, post, type RawRequest, sendTo } from "../../support/http.ts";
import { discover, httpServer, modernCall, toolCall } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { until } from "../../support/turns.ts";

/** Who is calling is what the Authorization header says. */
const authenticate = (request: RequestHead): Principal | undefined => {
  const subject = request.header("authorization");
  return subject === undefined ? undefined : { issuer: "test", subject };
};
const as = (subject: string): RawRequest => modernPost(discover, { authorization: subject });

/** Sends one after the other. */
async function statuses(
  send: (request: RawRequest) => Promise<{ status: number }>,
  ...requests: RawRequest[]
) {
  const seen: number[] = [];
  for (const request of requests) seen.push((await send(request)).status);
  return seen;
}

describeEdges("rateLimit", (open) => {
  test("a principal past its burst is refused with 429 and the seconds to wait, and served again then [TOOL-SEC-SERVER, COMP-SEC]", async () => {
    const { now, advance } = stoppedClock();
    const perPrincipal = { perMinute: 12, burst: 2 };
    const edge = await open(httpServer().server, { auth: authenticate, rateLimit: { perPrincipal, now } });
    expect(await statuses(edge.send, as("ann"), as("ann"))).toEqual([200, 200]);
    const refused = await edge.send(as("ann"));
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "5" } });
    expect((await refused.answer()).error).toEqual({
      code: -32600,
      message: "Too many requests: try again in 5 seconds",
    });
    advance(4999);
    expect(await edge.send(as("ann"))).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    advance(1);
    expect(await statuses(edge.send, as("ann"), as("ann"))).toEqual([200, 429]);
  });

  test.each<[string, number, HttpOptions]>([
    ["are counted with trustProxy, which says whose they are", 1, { trustProxy: 1 }],
    ["are not counted without it", 0, {}],
    ["are not counted where perAddress is false", 0, { trustProxy: 1, rateLimit: { perAddress: false } }],
  ])("addresses %s", async (_, callers, options) => {
    const rateLimit = { ...options.rateLimit, now: stoppedClock().now };
    const edge = await open(httpServer().server, { ...options, rateLimit });
    await (await edge.send(modernPost(discover, { "x-forwarded-for": "192.0.2.1" }))).complete();
    expect(edge.stats().callers).toBe(callers);
  });

  test("principals do not spend for each other, and nobody in particular spends for none", async () => {
    const { now } = stoppedClock();
    const edge = await open(httpServer().server, {
      auth: authenticate,
      rateLimit: { perPrincipal: { perMinute: 1, burst: 1 }, now },
    });
    expect(await statuses(edge.send, as("ann"), as("bob"), as("ann"), as("bob"))).toEqual([
      200, 200, 429, 429,
    ]);
    expect(await statuses(edge.send, modernPost(discover), modernPost(discover))).toEqual([200, 200]);
  });

  test("principals do not spend for each other where the name of one issuer begins that of another", async () => {
    const { now } = stoppedClock();
    const edge = await open(httpServer().server, {
      auth: (request) => {
        const [issuer = "", subject = ""] = request.header("authorization")?.split(" ") ?? [];
        return { issuer, subject };
      },
      rateLimit: { perPrincipal: { perMinute: 1, burst: 1 }, now },
    });
    const callers = ["https://id.example/a bc", "https://id.example/ab c", "https://id.example/abc "];
    expect(await statuses(edge.send, ...callers.map(as))).toEqual([200, 200, 200]);
    expect(await statuses(edge.send, ...callers.map(as))).toEqual([429, 429, 429]);
    expect(edge.stats().callers).toBe(3);
  });

  test("an address past its limit is refused before it is asked who is calling, on every route", async () => {
    const { now } = stoppedClock();
    const asked = vi.fn<typeof authenticate>();
    const edge = await open(httpServer().server, {
      auth: asked,
      legacySse: true,
      cors: { origins: ["https://app.example"] },
      rateLimit: { perAddress: { perMinute: 1, burst: 1 }, now },
    });
    expect(await statuses(edge.send, modernPost(discover))).toEqual([200]);
    const routes: RawRequest[] = [
      modernPost(discover),
      post(toolCall(1, "echo"), { "mcp-session-id": "guessed" }),
      { method: "GET", headers: { accept: "text/event-stream" } },
      { method: "DELETE" },
      { method: "PUT" },
      { method: "OPTIONS", headers: { origin: "https://app.example" } },
      { method: "GET", path: "/sse", headers: { accept: "text/event-stream" } },
      { ...post(toolCall(1, "echo")), path: "/messages?sessionId=guessed" },
      { method: "GET", path: "/elsewhere" },
    ];
    expect(await statuses(edge.send, ...routes)).toEqual(routes.map(() => 429));
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test("requests past `concurrent` are refused until one of the caller's has ended, however it ends", async () => {
    const { now } = stoppedClock();
    const { server, gate, waiting, aborted } = httpServer();
    const edge = await open(server, { rateLimit: { perAddress: { concurrent: 2 }, now } });
    const running = edge.send(modernPost(modernCall(1, "wait")));
    const controller = new AbortController();
    const lost = edge.send({ ...modernPost(modernCall(2, "wait")), signal: controller.signal });
    lost.catch(() => {});
    await until(() => waiting() === 2);
    expect(await edge.send(modernPost(discover))).toMatchObject({
      status: 429,
      headers: { "retry-after": "1" },
    });
    controller.abort();
    await until(() => aborted.length === 1);
    // A call that was cancelled runs until its handler has ended.
    gate.resolve();
    expect((await running).status).toBe(200);
    await until(() => edge.stats().inFlight === 0);
    const failing = [modernPost(modernCall(3, "fail")), post("{"), { method: "PUT" }];
    for (const request of [...failing, ...failing]) expect((await edge.send(request)).status).not.toBe(429);
  });

  test("no more than maxCallers are counted: newcomers share one bucket, and no other is emptied for them", async () => {
    const { now, advance } = stoppedClock();
    const edge = await open(httpServer().server, {
      auth: authenticate,
      limits: { maxCallers: 3 },
      rateLimit: { perPrincipal: { perMinute: 60, burst: 1 }, now },
    });
    expect(await statuses(edge.send, as("a"), as("b"), as("c"))).toEqual([200, 200, 200]);
    expect(await statuses(edge.send, as("d"), as("e"), as("f"))).toEqual([200, 429, 429]);
    expect(await statuses(edge.send, as("a"), as("b"), as("c"))).toEqual([429, 429, 429]);
    expect(edge.stats().callers).toBe(3);
    // Their buckets are full again, so dropping them changes no limit.
    advance(1000);
    expect(await statuses(edge.send, as("d"), as("e"), as("f"))).toEqual([200, 200, 200]);
    expect(edge.stats().callers).toBe(3);
  });

  test("a caller that has something running is not forgotten", async () => {
    const { now, advance } = stoppedClock();
    const { server, gate, waiting } = httpServer();
    const edge = await open(server, {
      auth: authenticate,
      limits: { maxCallers: 1 },
      rateLimit: { perPrincipal: { concurrent: 1 }, now },
    });
    const running = edge.send(modernPost(modernCall(1, "wait"), { authorization: "ann" }));
    await until(() => waiting() === 1);
    advance(60_000);
    expect(await statuses(edge.send, as("bob"), as("ann"))).toEqual([200, 429]);
    gate.resolve();
    await running;
  });
});

describe("rateLimit", () => {
  test("a refusal does not wait for the body", async () => {
    const { port } = await openEdge("serveHttp", httpServer().server, {
      rateLimit: { perAddress: { perMinute: 1, burst: 1 } },
    });
    await sendTo(port, modernPost(discover));
    const raw = openRaw(port);
    const head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{";
    raw.socket.write(head);
    await until(() => raw.text().startsWith("HTTP/1.1 429 "));
    raw.socket.destroy();
  });

  test("without an option nothing is counted, and with authenticate each principal has the default limits", async () => {
    const { server } = httpServer();
    const local = await openEdge("fetchHandler", server);
    await local.send(as("ann"));
    expect(local.stats().callers).toBe(0);
    const { now } = stoppedClock();
    const handler = fetchHandler(server, { auth: authenticate, rateLimit: { now } });
    const ask = async (): Promise<number> =>
      (await handler(new Request("http://localhost/mcp", { headers: { authorization: "ann" } }))).status;
    for (let count = 0; count < defaultCallerLimits.burst; count++) expect(await ask()).not.toBe(429);
    expect(await ask()).toBe(429);
    const off = await openEdge("fetchHandler", server, { auth: authenticate, rateLimit: false });
    await off.send(as("ann"));
    expect(off.stats().callers).toBe(0);
    await handler.close();
  });

  test("a page of an allowed origin can read the refusal, and how long to wait", async () => {
    const { now } = stoppedClock();
    const cors = { origins: ["https://app.example"] };
    const rateLimit = { perAddress: { perMinute: 60, burst: 1 }, now };
    const edge = await openEdge("serveHttp", httpServer().server, { cors, rateLimit });
    const request = modernPost(discover, { origin: "https://app.example" });
    await edge.send(request);
    const { status, headers } = await edge.send(request);
    expect(status).toBe(429);
    expect(headers["access-control-allow-origin"]).toBe("https://app.example");
    expect(headers["access-control-expose-headers"]).toContain("Retry-After");
  });
});

/** Pairs of addresses, and whether they are counted as one caller. */
const neighbours: [one: string, other: string, isSame: boolean][] = [
  ["192.0.2.1", "192.0.2.1", true],
  ["192.0.2.1", "192.0.2.2", false],
  ["::ffff:192.0.2.1", "192.0.2.1", true],
  ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true],
  ["2001:db8::1", "2001:db8:0:0:5::", true],
  ["2001:0DB8::1", "2001:db8::2", true],
  ["2001:db8:0:1::1", "2001:db8:0:2::1", false],
  ["::1", "::2", true],
  ["1::", "2::", false],
  ["1:2::3:4:5:6:7", "1:2:0:3:9::", true],
  ["1:2::3:4:5:6:7", "1:2:3::", false],
  ["fe80::1%eth0", "fe80::2%eth1", true],
];

test.each(neighbours)("rateLimit.perAddress counts %s and %s as one: %s", async (one, other, isSame) => {
  const handler = nodeHandler(httpServer().server, {
    rateLimit: { perAddress: { perMinute: 1, burst: 1 }, now: stoppedClock().now },
  });
  const http = createServer((request, response) => {
    Object.defineProperty(request.socket, "remoteAddress", { value: claimed(request), configurable: true });
    void handler(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  const from = (address: string): RawRequest => modernPost(discover, { "x-address": address });
  const seen = await statuses((request) => sendTo(port, request), from(one), from(other));
  expect(seen).toEqual([200, isSame ? 429 : 200]);
});

function claimed(request: IncomingMessage): string {
  return String(request.headers["x-address"]);
}

const mistakes: [field: string, options: object][] = [
  ["rateLimit.perPrincipal", { rateLimit: { perPrincipal: { perMinute: 60 } } }],
  ["rateLimit.perSession", { rateLimit: { perSession: {} } }],
  ["rateLimit.perAddress.perSecond", { rateLimit: { perAddress: { perSecond: 1 } } }],
  ["rateLimit.perAddress.perMinute", { rateLimit: { perAddress: { perMinute: 0 } } }],
  ["rateLimit.perAddress.burst", { rateLimit: { perAddress: { burst: 0.5 } } }],
  ["rateLimit.perAddress.concurrent", { rateLimit: { perAddress: { concurrent: Number.NaN } } }],
  ["limits.maxCallers", { limits: { maxCallers: 0 } }],
];

test.each(mistakes)("a wrong %s is found when the server is made", (field, options) => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const make = (): unknown => nodeHandler(server, options as HttpOptions);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(field);
});
