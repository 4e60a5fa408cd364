// Which HTTP methods the endpoint has, by mode and era, and what it says of the others.
import type { ServerOptions } from "halyard";
import { expect, test } from "vitest";
import { describeEdges, mirrored, modernPost, openGet, openSession, post } from "../../support/http.ts";
import { discover, httpServer, modernCall, ping, toolCall } from "../../support/http-server.ts";
import { initializeRequest, newestLegacy, newestModern } from "../../support/raw.ts";

const all = "GET, POST, DELETE";
const modern = { "mcp-protocol-version": newestModern };
const refused: readonly [NonNullable<ServerOptions["mode"]>, string, Record<string, string>, string][] = [
  ["stateless", "GET", {}, "POST"],
  ["stateless", "DELETE", {}, "POST"],
  ["stateless", "GET", modern, "POST"],
  ["stateless", "PUT", {}, "POST"],
  ["both", "GET", modern, all],
  ["both", "DELETE", modern, all],
  ["both", "PUT", {}, all],
  ["both", "HEAD", {}, all],
  ["both", "OPTIONS", {}, all],
  ["stateful", "PATCH", {}, all],
];

describeEdges("methods", (open) => {
  test.each(refused)(
    "a %s server refuses %s with %j by 405, and Allow is %s [HTTP-405-ALLOW, HTTP-GET-SSE-OR-405, HTTP26-GET-DELETE-405]",
    async (mode, method, headers, allow) => {
      const edge = await open(httpServer({ mode }).server);
      const reply = await edge.send({ method, headers: { accept: "text/event-stream", ...headers } });
      expect(reply).toMatchObject({ status: 405, headers: { allow } });
    },
  );

  test("a browser that opens the endpoint, or another path, reads what to do", async () => {
    const browser = { method: "GET", headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };
    const both = await open(httpServer().server);
    const opened = await both.send(browser);
    expect(opened.status).toBe(400);
    expect((await opened.answer()).error?.message).toMatch(
      /^This is an MCP endpoint: add this URL to an MCP client. Clients POST an initialize/,
    );
    const missed = await both.send({ ...browser, path: "/" });
    expect(missed.status).toBe(404);
    expect((await missed.answer()).error?.message).toBe(
      'Not found: the MCP endpoint is at /mcp. If you mount it at /, pass path: "/"',
    );
    const stateless = await open(httpServer({ mode: "stateless" }).server);
    const answer = await (await stateless.send(browser)).answer();
    expect(answer.error?.message).toBe("Method not allowed: this MCP endpoint accepts POST");
  });

  test("one path takes POST, GET and DELETE of both eras [HTTP-ENDPOINT-SINGLE, HTTP26-ENDPOINT-POST, HTTP-GET-SSE-OR-405]", async () => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, newestLegacy);
    const get = await openGet(edge, session);
    expect(get).toMatchObject({ status: 200, type: "text/event-stream" });
    const legacy = await edge.send(post(toolCall(1, "echo"), session.headers));
    expect(await legacy.answer()).toMatchObject({ id: 1, result: {} });
    const stateless = await edge.send(modernPost(modernCall(1, "echo")));
    expect(await stateless.answer()).toMatchObject({ id: 1, result: { resultType: "complete" } });
    const end = await edge.send({ method: "DELETE", headers: session.headers });
    expect(end.status).toBe(204);
    await get.complete();
  });

  test("any other path is 404, and the endpoint may be at another one", async () => {
    const edge = await open(httpServer().server, { path: "/rpc" });
    expect((await edge.send({ ...modernPost(discover), path: "/mcp" })).status).toBe(404);
    expect((await edge.send({ ...modernPost(discover), path: "/rpc?x=1" })).status).toBe(200);
  });

  test("a server that is shutting down answers 503 while calls finish, then ends its streams without a word [INIT-SHUTDOWN-HTTP]", async () => {
    const { server, gate, waiting } = httpServer();
    const edge = await open(server, { graceMs: 5000 });
    const get = await openGet(edge, await openSession(edge, newestLegacy));
    const call = edge.send(modernPost(modernCall(1, "wait")));
    await expect.poll(waiting).toBe(1);
    const closing = edge.close();
    // A server of its own takes no new connection from here on; a handler is still reached.
    const late = edge.send(modernPost(discover));
    if (edge.kind === "serveHttp") await expect(late).rejects.toThrow("ECONNREFUSED");
    else expect(await late).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    gate.resolve();
    expect(await (await call).answer()).toMatchObject({ id: 1, result: {} });
    await closing;
    await get.complete();
    expect(get.messages).toEqual([]);
  });
});

describeEdges("statuses of a legacy POST", (open) => {
  const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
  const response = { jsonrpc: "2.0", id: "nothing", result: {} };

  test.each([notification, response])("%j is taken with 202 and no body [HTTP-POST-202]", async (message) => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, newestLegacy);
    const reply = await edge.send(post(message, session.headers));
    expect(await reply.complete()).toMatchObject({ status: 202, text: "" });
  });

  test.each<[string, Record<string, string>, number]>([
    ["names no session", { "mcp-session-id": "" }, 404],
    ["has a version that is not spoken", { "mcp-protocol-version": "1999-12-31" }, 400],
    ["is not JSON", { "content-type": "text/plain" }, 415],
    ["takes no answer that there is", { accept: "image/png" }, 406],
  ])(
    "a notification that %s is refused with a status and an error without id [HTTP-POST-NOTIF-ERROR, HTTP-POST-NOTIF-ERROR-BODY]",
    async (_, headers, status) => {
      const edge = await open(httpServer().server);
      const session = await openSession(edge, newestLegacy);
      const reply = await edge.send(post(notification, { ...session.headers, ...headers }));
      const answer = await reply.answer();
      expect(reply.status).toBe(status);
      expect(answer.error?.code).toBeTypeOf("number");
      expect(answer).not.toHaveProperty("id");
    },
  );

  test.each<[string, unknown, number]>([
    ["{", -32700, 400],
    ["5", -32600, 400],
    ["[]", -32600, 400],
    ['{"jsonrpc":"2.0","id":1}', -32600, 400],
    ['{"jsonrpc":"1.0","method":"x"}', -32600, 400],
    ['{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601, 200],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no"}}', -32602, 200],
  ])("the body %s is %i with status %i", async (body, code, status) => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, newestLegacy);
    const reply = await edge.send(post(body, session.headers));
    expect(await reply.answer()).toMatchObject({ error: { code } });
    expect(reply.status).toBe(status);
  });

  test.each(["null", "true", "1.5", "1e999", "{}"])(
    "initialize with the id %s is no request, and 400 like any other that is none",
    async (id) => {
      const edge = await open(httpServer().server);
      const text = JSON.stringify(initializeRequest("ID", newestLegacy)).replace('"ID"', id);
      const reply = await edge.send(post(text));
      expect(await reply.answer()).toMatchObject({ error: { code: -32600 } });
      expect(reply.status).toBe(400);
      expect(edge.stats().sessions).toBe(0);
    },
  );

  test("a request without a session is 400, with one that does not exist 404", async () => {
    const edge = await open(httpServer().server);
    expect((await edge.send(post(ping))).status).toBe(400);
    expect((await edge.send(post(ping, { "mcp-session-id": "x".repeat(43) }))).status).toBe(404);
  });

  test("requests in flight with the same id in one session each get their own answer", async () => {
    const { server, gate, waiting } = httpServer();
    const edge = await open(server);
    const session = await openSession(edge, newestLegacy);
    const slow = edge.send(post(toolCall(1, "wait"), session.headers));
    await expect.poll(waiting).toBe(1);
    const texts = ["a", "b", "c"];
    const quick = await Promise.all(
      texts.map((text) => edge.send(post(toolCall(1, "echo", { text }), session.headers))),
    );
    const answers = await Promise.all(quick.map((reply) => reply.answer()));
    expect(answers.map((answer) => answer.result?.["content"])).toEqual(
      texts.map((text) => [{ type: "text", text }]),
    );
    gate.resolve();
    expect(await (await slow).answer()).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } });
  });
});

describeEdges("statuses of a modern POST", (open) => {
  const notification = { jsonrpc: "2.0", method: "notifications/x" };

  test("a notification is taken with 202 and no body, whatever mirrored headers it has [HTTP26-NOTIF-202, HTTP26-NOTIF-HEADERS-UNDEFINED]", async () => {
    const edge = await open(httpServer().server);
    const reply = await edge.send(post(notification, { "mcp-protocol-version": newestModern }));
    expect(await reply.complete()).toMatchObject({ status: 202, text: "" });
  });

  test.each([
    { method: "notifications/x" },
    { jsonrpc: "2.0", method: 5 },
    { jsonrpc: "2.0", id: 1, result: {} },
  ])(
    "%j is no notification that can be taken: 400, without an id of the server's own [HTTP26-NOTIF-ERROR]",
    async (message) => {
      const edge = await open(httpServer().server);
      const reply = await edge.send(post(message, { "mcp-protocol-version": newestModern }));
      expect(await reply.answer()).toMatchObject({ error: { code: -32600 } });
      expect(reply.status).toBe(400);
    },
  );

  test.each<[string, Record<string, unknown>, number, number]>([
    ["an unknown method", { method: "no/such" }, -32601, 404],
    ["a method of the other era", { method: "ping" }, -32601, 404],
    ["an unknown tool", { method: "tools/call", params: { name: "no" } }, -32602, 200],
    [
      "no parameters where some are needed",
      { method: "tools/call", params: { name: "echo", arguments: 5 } },
      -32602,
      200,
    ],
  ])(
    "%s is answered with the request's id [HTTP26-METHOD-404, HTTP26-OTHER-ERRORS-200]",
    async (_, parts, code, status) => {
      const edge = await open(httpServer().server);
      const params = {
        ...(parts["params"] as object | undefined),
        _meta: (discover["params"] as { _meta: object })._meta,
      };
      const message = { jsonrpc: "2.0", id: "own", method: parts["method"], params };
      const reply = await edge.send(modernPost(message));
      expect(await reply.answer()).toMatchObject({ id: "own", error: { code } });
      expect(reply.status).toBe(status);
    },
  );

  test("Last-Event-ID and Mcp-Session-Id mean nothing [HTTP26-NO-RESUME, HTTP26-IGNORE-LAST-EVENT-ID]", async () => {
    const edge = await open(httpServer().server);
    const reply = await edge.send(
      modernPost(modernCall(1, "report", {}, { progressToken: 1 }), {
        "last-event-id": "p1.1",
        "mcp-session-id": "x",
      }),
    );
    await reply.complete();
    expect(reply.messages).toHaveLength(3);
    expect(reply.events.some((event) => event.id !== undefined)).toBe(false);
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
    const stateless = await open(httpServer({ mode: "stateless" }).server);
    const resumed = await stateless.send({
      method: "GET",
      headers: { ...mirrored(discover), "last-event-id": "p1.1", accept: "text/event-stream" },
    });
    expect(resumed.status).toBe(405);
  });
});
