// The guard: Host and Origin on every route, and POSTs that a browser sends without asking first.
import { ConfigurationError } from "halyard";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeEdges, modernPost, openSession, post, type RawRequest, sendTo } from "../../support/http.ts";
import { discover, httpServer, ping } from "../../support/http-server.ts";
import { initializeRequest, newestLegacy } from "../../support/raw.ts";
import { openRaw } from "../../support/raw-socket.ts";

const routes: readonly [string, RawRequest][] = [
  ["a modern POST", modernPost(discover)],
  ["initialize", post(initializeRequest(1, newestLegacy))],
  ["a legacy POST", post(ping, { "mcp-session-id": "x" })],
  ["GET", { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": "x" } }],
  ["DELETE", { method: "DELETE", headers: { "mcp-session-id": "x" } }],
  ["OPTIONS", { method: "OPTIONS" }],
  ["the SSE path", { method: "GET", path: "/sse" }],
  ["the message path", { ...post(ping), path: "/messages?sessionId=x" }],
  ["a path where nothing is", { method: "GET", path: "/nowhere" }],
];

const withHeaders = (request: RawRequest, headers: Record<string, string>): RawRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

describeEdges("the guard", (open) => {
  test.each(routes)(
    "refuses a foreign Origin on %s with 403, an error without id, and a log that names the option [HTTP-ORIGIN-VALIDATE, HTTP-ORIGIN-403, HTTP-ORIGIN-403-BODY, HTTP26-ORIGIN, SSE24-ORIGIN]",
    async (_, request) => {
      const { server, log } = httpServer();
      const edge = await open(server, { legacySse: true });
      for (const origin of [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1.nip.io:80",
      ]) {
        const reply = await edge.send(withHeaders(request, { origin }));
        const answer = await reply.answer();
        expect(reply.status).toBe(403);
        expect(answer).not.toHaveProperty("id");
        expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
        expect(log.at(-1)).toMatchObject({
          level: "warn",
          message: `Origin ${origin} is not allowed: add it to cors.origins if its pages may call, or to allowedOrigins`,
        });
      }
    },
  );

  test.each(routes)(
    "refuses a foreign Host on %s with 403, and the log names the option [HTTP-HOST-VALIDATE]",
    async (_, request) => {
      const { server, log } = httpServer();
      const edge = await open(server, { legacySse: true });
      for (const host of ["evil.example", "evil.example:3000", "localhost.evil.example", "10.0.0.1"]) {
        const reply = await edge.send(withHeaders(request, { host }));
        expect((await reply.complete()).status).toBe(403);
        expect(log.at(-1)?.message).toBe(`Host ${host} is not allowed: add it to allowedHosts`);
      }
    },
  );

  test.each<[string, readonly string[] | undefined, number]>([
    ["localhost", undefined, 200],
    ["LOCALHOST:1234", undefined, 200],
    ["127.0.0.1:1", undefined, 200],
    ["[::1]:3000", undefined, 200],
    ["[::1]", undefined, 200],
    ["[::2]:3000", undefined, 403],
    ["mcp.example.com", ["mcp.example.com"], 200],
    ["MCP.example.com:8443", ["mcp.Example.com"], 200],
    ["mcp.example.com:8443", ["mcp.example.com:8443"], 200],
    ["mcp.example.com:9000", ["mcp.example.com:8443"], 403],
    ["mcp.example.com", ["mcp.example.com:8443"], 403],
    ["other.example.com", ["mcp.example.com"], 403],
    ["[2001:db8::1]:3000", ["[2001:db8::1]"], 200],
    ["localhost", ["mcp.example.com"], 200],
    ["anything.at.all", ["*"], 200],
  ])("answers Host %s with allowedHosts %j by %i", async (host, allowedHosts, status) => {
    const edge = await open(httpServer().server, allowedHosts && { allowedHosts });
    expect((await edge.send(withHeaders(modernPost(discover), { host }))).status).toBe(status);
  });

  test.each<[string, object, number]>([
    ["http://localhost:5173", {}, 200],
    ["http://[::1]:5173", {}, 200],
    ["https://app.example", { allowedOrigins: ["https://app.example"] }, 200],
    ["https://APP.example", { allowedOrigins: ["https://app.example"] }, 200],
    ["http://app.example", { allowedOrigins: ["https://app.example"] }, 403],
    ["https://app.example:444", { allowedOrigins: ["https://app.example"] }, 403],
    ["https://mcp.example.com", { allowedHosts: ["mcp.example.com"] }, 200],
    ["https://evil.example", { allowedHosts: ["*"] }, 403],
    ["https://any.example", { allowedOrigins: ["*"] }, 200],
  ])("answers Origin %s with %j by %i", async (origin, options, status) => {
    const edge = await open(httpServer().server, options);
    // Twice, since what was let through once is remembered.
    for (let round = 0; round < 2; round++) {
      expect((await edge.send(withHeaders(modernPost(discover), { origin }))).status).toBe(status);
      expect(
        (await edge.send(withHeaders(modernPost(discover), { origin: "https://evil.test" }))).status,
      ).toBe(JSON.stringify(options).includes('"allowedOrigins":["*"]') ? 200 : 403);
    }
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", undefined])(
    "refuses a POST of %s: a foreign page could send it unasked",
    async (type) => {
      const edge = await open(httpServer().server, { legacySse: true });
      for (const path of ["/mcp", "/messages"]) {
        const reply = await edge.send({ ...modernPost(discover, { "content-type": type }), path });
        expect(reply.status).toBe(415);
      }
    },
  );

  test("takes application/json with parameters, in any case", async () => {
    const edge = await open(httpServer().server);
    const headers = { "content-type": "Application/JSON; charset=utf-8" };
    expect((await edge.send(modernPost(discover, headers))).status).toBe(200);
  });
});

describeEdges("cors", (open) => {
  const origin = "https://app.example";
  const preflight: RawRequest = {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, mcp-param-region, x-secret",
    },
  };

  test("is off unless it is asked for: no header, and no preflight", async () => {
    const edge = await open(httpServer().server, { allowedOrigins: [origin] });
    for (const request of [preflight, withHeaders(modernPost(discover), { origin })]) {
      const reply = await edge.send(request);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    expect((await edge.send(preflight)).status).toBe(405);
  });

  test("answers a preflight: every method, every header of the protocol, and those of arguments", async () => {
    const edge = await open(httpServer().server, { cors: { origins: [origin] } });
    const { status, headers } = await edge.send(preflight);
    expect(status).toBe(204);
    expect(headers["access-control-allow-origin"]).toBe(origin);
    expect(headers["access-control-allow-methods"]).toBe("GET, POST, DELETE, OPTIONS");
    const allowed = headers["access-control-allow-headers"]?.toLowerCase().split(", ");
    expect(allowed).toEqual(
      expect.arrayContaining([
        "content-type",
        "accept",
        "authorization",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "last-event-id",
        "mcp-param-region",
      ]),
    );
    expect(allowed).not.toContain("x-secret");
  });

  test("lets the page read answers, streams, refusals and the session", async () => {
    const edge = await open(httpServer().server, { cors: { origins: [origin] } });
    const requests = [
      modernPost(discover, { origin }),
      modernPost(discover, { origin, accept: "text/event-stream" }),
      modernPost(discover, { origin, accept: "image/png" }),
      post(initializeRequest(1, newestLegacy), { origin }),
    ];
    for (const request of requests) {
      const { headers } = await edge.send(request);
      expect(headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
      expect(headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
    }
    await openSession(edge, newestLegacy, { origin });
  });

  test("names only the origins that were given: others of this machine may call, but not read", async () => {
    const edge = await open(httpServer().server, { cors: { origins: [origin] } });
    const local = await edge.send(modernPost(discover, { origin: "http://localhost:9999" }));
    expect(local.status).toBe(200);
    expect(local.headers["access-control-allow-origin"]).toBeUndefined();
    expect((await edge.send(modernPost(discover, { origin: "https://evil.example" }))).status).toBe(403);
    const any = await open(httpServer().server, { cors: { origins: ["*"] } });
    const reply = await any.send(modernPost(discover, { origin: "https://evil.example" }));
    expect(reply.headers["access-control-allow-origin"]).toBe("https://evil.example");
  });
});

describe("serveHttp", () => {
  test("listens on 127.0.0.1 only, unless it is told otherwise [HTTP-BIND-LOCALHOST, HTTP26-BIND-LOCALHOST, SSE24-BIND]", async () => {
    const http = await serveHttp(httpServer().server, { port: 0 });
    onTestFinished(() => http.close());
    expect(http.url).toBe(`http://127.0.0.1:${http.port}/mcp`);
    await expect(sendTo(http.port, modernPost(discover), "127.0.0.2")).rejects.toThrow("ECONNREFUSED");
  });

  test.each(["0.0.0.0", "::", "192.0.2.1", "example.com"])(
    "does not start on %s without allowedHosts, and names the option",
    async (host) => {
      const starting = serveHttp(httpServer().server, { port: 0, host });
      await expect(starting).rejects.toThrow(ConfigurationError);
      await expect(starting).rejects.toThrow(/allowedHosts/);
    },
  );

  test("starts on an outside address with allowedHosts, and is reached under those", async () => {
    const http = await serveHttp(httpServer().server, {
      port: 0,
      host: "0.0.0.0",
      allowedHosts: ["mcp.example.com"],
    });
    onTestFinished(() => http.close());
    expect(
      (await sendTo(http.port, withHeaders(modernPost(discover), { host: "mcp.example.com" }))).status,
    ).toBe(200);
    expect((await sendTo(http.port, withHeaders(modernPost(discover), { host: "0.0.0.0" }))).status).toBe(
      403,
    );
  });

  test("is reached under the loopback address that it listens on", async () => {
    const http = await serveHttp(httpServer().server, { port: 0, host: "127.0.0.2" });
    onTestFinished(() => http.close());
    expect((await sendTo(http.port, modernPost(discover), "127.0.0.2")).status).toBe(200);
  });

  test("listens on several addresses with one port", async () => {
    const http = await serveHttp(httpServer().server, { port: 0, host: ["127.0.0.1", "127.0.0.2"] });
    onTestFinished(() => http.close());
    for (const host of ["127.0.0.1", "127.0.0.2"]) {
      expect((await sendTo(http.port, modernPost(discover), host)).status).toBe(200);
    }
  });

  test("says in one line that a port is taken, and leaves no other address open", async () => {
    const first = await serveHttp(httpServer().server, { port: 0, host: "127.0.0.2" });
    onTestFinished(() => first.close());
    const { port } = first;
    const error: unknown = await serveHttp(httpServer().server, {
      port,
      host: ["127.0.0.1", "127.0.0.2"],
    }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "CANNOT_LISTEN",
      message: `Port ${port} on 127.0.0.2 is in use: stop the other process, or pass another port`,
    });
    await expect(sendTo(port, modernPost(discover))).rejects.toThrow("ECONNREFUSED");
  });
});

describe("serveHttp()", () => {
  async function send(head: string): Promise<{ text: string; tokens: unknown[] }> {
    const tokens: unknown[] = [];
    const http = await serveHttp(httpServer().server, {
      port: 0,
      auth: (request) => void tokens.push(request.header("authorization")),
    });
    onTestFinished(() => http.close());
    const text = await openRaw(http.port).request(
      `GET /mcp HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`,
    );
    return { text, tokens };
  }

  test.each(["Host: localhost\r\nHost: evil.example", "Host: evil.example\r\nHost: localhost"])(
    "takes neither of two Host headers: %j [HTTP-HOST-VALIDATE]",
    async (head) => {
      const { text, tokens } = await send(head);
      expect(text).toMatch(/^HTTP\/1.1 403/);
      expect(tokens).toEqual([]);
    },
  );

  test("does not choose between two tokens", async () => {
    const { tokens } = await send("Host: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b");
    expect(tokens).toEqual(["Bearer a, Bearer b"]);
  });
});
