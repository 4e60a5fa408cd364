// What a hostile server can make a client hold over HTTP, and how long: bodies, streams, connections.
import { gzipSync } from "node:zlib";
import { connect, InvalidResponse } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { cannedFetch } from "../../support/canned-fetch.ts";
import {
  type Asked,
  event,
  failing,
  newestLegacy,
  newestModern,
  responseTo,
  start,
} from "../../support/http-script.ts";
import { deferred, until } from "../../support/turns.ts";

const limits = { maxBytes: 100_000 };

/** Writes until the reader leaves. */
function flood({ response }: Asked, text: string): void {
  const write = (): void => {
    if (response.destroyed) return;
    if (response.write(text)) setImmediate(write);
    else response.once("drain", write);
  };
  write();
}

/** The two ways to send on Node. */
const ways = { "node:http": {}, fetch: { fetch } };

describe.each(Object.entries(ways))("a reply over %s", (_, way) => {
  describe.each([newestModern, newestLegacy])("on %s", (revision) => {
    test("is read up to maxBytes, and then its connection is closed", async () => {
      const { server, client } = await start({ revision, limits, ...way });
      server.on("json", (asked) => {
        asked.response.writeHead(200, { "content-type": "application/json" });
        flood(asked, "x".repeat(10_000));
      });
      server.on("events", (asked) => {
        asked.stream()("data: ");
        flood(asked, "x".repeat(10_000));
      });
      server.on("error", (asked) => {
        asked.response.writeHead(400, { "content-type": "application/json" });
        flood(asked, "x".repeat(10_000));
      });
      for (const method of ["json", "events", "error"]) {
        const error = await failing(client.request(method));
        expect(error, method).toBeInstanceOf(InvalidResponse);
        expect(error.message).toContain("100000");
        const { response } = await server.next(method);
        await until(() => response.destroyed);
      }
    });

    test("with an error page without an end is shown in part, and its connection is closed", async () => {
      const { server, client } = await start({ revision, limits, ...way });
      server.on("page", (asked) => {
        asked.response.writeHead(500, { "content-type": "text/html" });
        flood(asked, "<p>Sorry</p>".repeat(1000));
      });
      const error = await failing(client.request("page"));
      expect(error).toMatchObject({ status: 500, body: expect.stringContaining("Sorry") });
      const { response } = await server.next("page");
      await until(() => response.destroyed);
    });

    test("that drips is ended by the time of the call, and its connection is closed", async () => {
      const { server, client } = await start({ revision, ...way });
      server.on("drip", ({ response }) => {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => clearInterval(timer));
      });
      const error = await failing(client.request("drip", {}, { timeoutMs: 200 }));
      expect(error).toMatchObject({ code: "TIMEOUT", limit: "timeoutMs" });
      const { response } = await server.next("drip");
      await until(() => response.destroyed);
    });

    test("that never begins leaves no connection when the client closes", async () => {
      const { server, client } = await start({ revision, ...way });
      server.on("work", () => {});
      const working = failing(client.request("work"));
      await server.next("work");
      await client.close();
      expect(await working).toMatchObject({ code: "CONNECTION_LOST", reason: "closed" });
      const { response } = await server.next("work");
      await until(() => response.destroyed);
    });

    test("with many messages is passed on message by message", async () => {
      let seen = 0;
      const { server, client } = await start({ revision, limits, onLog: () => void seen++, ...way });
      server.on("work", (asked) => {
        const write = asked.stream();
        const log = event({
          jsonrpc: "2.0",
          method: "notifications/message",
          params: { level: "info", data: "x".repeat(90) },
        });
        for (let sent = 0; sent < 100; sent++) write(log.repeat(50));
        write(event(responseTo(asked, { a: 1 })));
      });
      expect(await client.request("work")).toMatchObject({ a: 1 });
      expect(seen).toBe(5000);
    });
  });
});

test("maxBytes counts what a compressed body expands to", async () => {
  const bomb = gzipSync(`"${"x".repeat(10_000_000)}"`);
  const { server, client } = await start({ fetch, limits });
  server.on("bomb", ({ response }) => {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-encoding": "gzip",
      "content-length": bomb.length,
    });
    response.end(bomb);
  });
  expect(bomb.length).toBeLessThan(limits.maxBytes);
  const error = await failing(client.request("bomb"));
  expect(error).toBeInstanceOf(InvalidResponse);
  expect(error.message).toContain("100000");
});

test("node:http asks for no compression, and refuses it", async () => {
  const { server, client } = await start();
  server.on("work", ({ response }) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync("{}"));
  });
  const error = await failing(client.request("work"));
  expect(error).toBeInstanceOf(InvalidResponse);
  expect(error.message).toContain("gzip");
  expect(server.of("work")[0]?.headers["accept-encoding"]).toBeUndefined();
});

test("a batch holds at most maxBatch messages", async () => {
  const { server, client } = await start({ revision: "2025-03-26", limits: { maxBatch: 3 } });
  server.on("work", (asked) =>
    asked.refuse(
      200,
      [1, 2, 3, 4].map(() => responseTo(asked)),
    ),
  );
  const error = await failing(client.request("work"));
  expect(error).toBeInstanceOf(InvalidResponse);
  expect(error.message).toContain("3 messages");
});

test("a failure that a browser does not explain keeps its cause, and does not claim that nothing happened", async () => {
  const opaque = new TypeError("Failed to fetch");
  const client = await connect("http://canned.example/mcp", {
    fetch: cannedFetch(() => Promise.reject(opaque)),
  });
  onTestFinished(() => client.close());
  let cause: unknown = await failing(client.request("work"));
  expect(cause).toMatchObject({
    reason: "cut",
    mayHaveRun: true,
    message: expect.stringContaining("Failed to fetch"),
  });
  while (cause instanceof Error && cause !== opaque) ({ cause } = cause);
  expect(cause).toBe(opaque);
});

test("a redirect that a browser hides is a failure that says so", async () => {
  const hidden = Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
  const client = await connect("http://canned.example/mcp", { fetch: cannedFetch(() => hidden) });
  onTestFinished(() => client.close());
  const error = await failing(client.request("work"));
  expect(error).toMatchObject({ code: "HTTP", message: expect.stringContaining("redirects") });
});

test("requests that wait do not hold up others", async () => {
  const { server, client } = await start({ revision: newestLegacy });
  const released = deferred();
  server.on("slow", async ({ result }) => {
    await released.promise;
    result();
  });
  server.on("work", ({ result }) => result({ a: 1 }));
  const slow = Array.from({ length: 300 }, () => client.request("slow"));
  await server.next("slow", 300);
  expect(await client.request("work")).toMatchObject({ a: 1 });
  released.resolve();
  await Promise.all(slow);
});
