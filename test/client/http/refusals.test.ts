// Replies with an error status: which of them are responses, and what the others tell the user.
import { connect, ConnectionLost, HttpFailure, RpcRejection } from "halyard/client";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { failing, newestLegacy, newestModern, quick, start } from "../../support/http-script.ts";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { nextTurn, until } from "../../support/turns.ts";

/** Nothing is sent again, so that the refusal itself is seen. */
const once = { maxTimeMs: 15_000, timeoutMs: 10_000 };

describe.each([newestModern, newestLegacy])("a refusal on %s", (revision) => {
  test.each([400, 404, 409, 422, 500, 501])(
    "with %i and a JSON-RPC error is the response [HTTP26-ERA-INSPECT-400]",
    async (status) => {
      const { server, client } = await start({ revision, headers: {} });
      const isSessionGone = status === 404 && revision === newestLegacy;
      server.on("work", ({ refuse, message }) =>
        refuse(status, { jsonrpc: "2.0", id: message.id, error: { code: -32010, message: "Not now" } }),
      );
      const error = await failing(client.request("work"));
      if (isSessionGone) return expect(error).toBeInstanceOf(ConnectionLost);
      expect(error).toBeInstanceOf(RpcRejection);
      expect(error).toMatchObject({ code: -32010, message: "Not now" });
    },
  );

  test.each([400, 405, 406, 413, 415, 418, 500, 501])(
    "with %i and no message is an HttpFailure with the body",
    async (status) => {
      const { server, client } = await start({ revision });
      server.on("work", ({ refuse }) => refuse(status, `Sorry ${"x".repeat(5000)}`));
      server.on("json", ({ refuse }) => refuse(status, { oops: true }));
      const error = await failing(client.request("work"));
      expect(error).toBeInstanceOf(HttpFailure);
      expect(error).toMatchObject({ code: "HTTP", status, url: server.url });
      expect(error.message).toContain(`${status}: Sorry`);
      expect(error["body"]).toHaveLength(2000);
      expect(await failing(client.request("json"))).toMatchObject({ status, body: '{"oops":true}' });
    },
  );

  test.each([502, 504, 520, 524, 530])(
    "with %i means that a gateway lost the server, which may have run the request",
    async (status) => {
      const { server, client } = await start({ revision });
      server.on("work", ({ refuse }) =>
        refuse(status, { jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } }),
      );
      const error = await failing(client.request("work"));
      expect(error).toBeInstanceOf(ConnectionLost);
      expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    },
  );

  test.each([
    ["nothing", ""],
    ["a page", "<h1>Service unavailable</h1>"],
    ["JSON of a gateway", { error: { message: "upstream" } }],
  ])("with 503 and %s may come from a gateway: the server may have run the request", async (_, body) => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse }) => refuse(503, body));
    const error = await failing(client.request("work"));
    expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(server.of("work")).toHaveLength(1);
  });

  test.each(["", "soon", "-5"])("with 503 and a Retry-After of %j is no proof either", async (header) => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse }) => refuse(503, "", { "retry-after": header }));
    const error = await failing(client.request("work"));
    expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(server.of("work")).toHaveLength(1);
  });

  test("with 503 and Retry-After is tried again: the server says that it did not run the request", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse, result }) =>
      server.of("work").length < 3 ? refuse(503, "", { "retry-after": "0" }) : result({ a: 1 }),
    );
    expect(await client.request("work", {}, once)).toMatchObject({ a: 1 });
  });

  test.each([429, 503])("with %i is tried again, even if it has a JSON-RPC body", async (status) => {
    const { server, client, events } = await start({ revision });
    server.on("work", ({ refuse, result, message }) =>
      server.of("work").length < 3
        ? refuse(status, { jsonrpc: "2.0", id: message.id, error: { code: -32000, message: "Busy" } })
        : result({ a: 1 }),
    );
    expect(await client.request("work", {}, once)).toMatchObject({ a: 1 });
    expect(events.filter(({ type }) => type === "retry")).toHaveLength(2);
  });
});

test.each([
  ["120", 120_000],
  ["0", 0],
  ["99999999999", 86_400_000],
  ["soon", undefined],
  ["-5", undefined],
])("Retry-After: %s asks to wait for %s ms", async (header, retryAfterMs) => {
  const { server, client } = await start();
  server.on("work", ({ refuse }) => refuse(500, "", { "retry-after": header }));
  expect((await failing(client.request("work")))["retryAfterMs"]).toBe(retryAfterMs);
});

test("Retry-After may be a date", async () => {
  const { server, client } = await start();
  stopClock();
  const inAMinute = new Date(Math.ceil(Date.now() / 1000) * 1000 + 60_000);
  server.on("work", ({ refuse }) => refuse(500, "", { "retry-after": inAMinute.toUTCString() }));
  const error = await failing(client.request("work"));
  expect(error["retryAfterMs"]).toBe(inAMinute.getTime() - Date.now());
  passSeconds(3600);
  expect((await failing(client.request("work")))["retryAfterMs"]).toBe(0);
});

test("a server that cannot be reached did not run the request, and is tried again", async () => {
  const { server, client, events } = await start();
  server.close();
  // On a connection that just closes, a request could still be sent.
  await until(() => server.sockets.size === 0);
  await nextTurn();
  const error = await failing(client.request("work"));
  expect(error).toBeInstanceOf(ConnectionLost);
  expect(error).toMatchObject({
    reason: "unreachable",
    mayHaveRun: false,
    message: expect.stringContaining("ECONNREFUSED"),
  });
  expect(events.some(({ type }) => type === "retry")).toBe(true);
});

test.each(["http://no-such-host.invalid/mcp", "http://127.0.0.1:9/mcp"])(
  "connect rejects if %s cannot be reached",
  async (url) => {
    const error = await failing(connect(url, { backoff: quick }));
    expect(error).toMatchObject({ reason: "unreachable", mayHaveRun: false });
  },
);

test("connect rejects if the server does not speak TLS", async () => {
  const server = createServer((socket) =>
    socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const error = await failing(connect(`https://127.0.0.1:${port}/mcp`, { backoff: quick }));
  server.close();
  expect(error).toMatchObject({ reason: "unreachable", mayHaveRun: false });
});

test("errors show the address without its query, which may hold a secret", async () => {
  const { server } = await start();
  const client = await connect(`${server.url}?key=secret`);
  server.on("work", ({ refuse }) => refuse(500));
  server.on("cut", ({ socket }) => socket.destroy());
  for (const method of ["work", "cut"]) {
    const error = await failing(client.request(method));
    expect(error.message).toContain(server.url);
    expect(error.message).not.toContain("secret");
  }
  await client.close();
});
