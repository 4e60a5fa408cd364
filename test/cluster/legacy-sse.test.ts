// HTTP+SSE on several nodes: a POST may arrive at any node, and the one that has the stream answers it there.
import { type McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { describe, expect, test } from "vitest";
import { engineOf } from "../support/backplane.ts";
import { serveCluster, serveNode, type TestNode, waitTool } from "../support/cluster.ts";
import { send } from "../support/event-reply.ts";
import { initializeRequest } from "../support/raw.ts";
import { edges } from "../support/sessions.ts";
import { SseClient } from "../support/legacy-sse.ts";
import { deferred, until } from "../support/turns.ts";

const http = { legacySse: true };

function define(server: McpServer): void {
  server.tool("whoami", {}, (_, ctx) => ctx.principal?.subject ?? "anonymous");
}

const authenticate = (request: {
  header(name: string): string | undefined;
}): { issuer: string; subject: string; scopes: string[] } | undefined => {
  const subject = request.header("x-user");
  const scopes = request.header("x-scopes")?.split(" ") ?? [];
  return subject === undefined ? undefined : { issuer: "https://issuer.example", subject, scopes };
};

interface Opened {
  readonly stream: Awaited<ReturnType<typeof send>>;
  /** Posts a message to a node, and resolves with the status. */
  say(node: TestNode, message: unknown, headers?: Record<string, string>): Promise<number>;
}

/** Opens a stream at one node. */
async function open(node: TestNode, headers: Record<string, string> = {}): Promise<Opened> {
  const base = ({ url }: TestNode): string => url.replace("/mcp", "");
  const stream = await send(`${base(node)}/sse`, {
    method: "GET",
    headers: { accept: "text/event-stream", ...headers },
  });
  await until(() => stream.events.length === 1);
  const [first] = stream.events.splice(0);
  return {
    stream,
    async say(at, message, more = headers) {
      const body = typeof message === "string" ? message : JSON.stringify(message);
      const all = { "content-type": "application/json", ...more };
      const reply = await send(base(at) + String(first?.data), { headers: all, body });
      await reply.closed;
      return reply.status;
    },
  };
}

const whoami = { jsonrpc: "2.0", id: "who", method: "tools/call", params: { name: "whoami" } };

describe.each(edges)("%s", (edge) => {
  test("a message at any node is answered on the stream", async () => {
    const [first, second, third] = await serveCluster({ define, edge, http });
    const { stream, say } = await open(first);
    expect(await say(second, initializeRequest("init", "2024-11-05"))).toBe(202);
    await stream.message(({ id }) => id === "init");
    expect(await say(third, { jsonrpc: "2.0", method: "notifications/initialized" })).toBe(202);
    expect(await say(second, whoami)).toBe(202);
    expect(await stream.message(({ id }) => id === "who")).toMatchObject({
      result: { content: [{ text: "anonymous" }] },
    });
    stream.cut();
  });

  test("a call is cancelled by a message at another node", async () => {
    const [called, cancelled] = [deferred(), deferred()];
    const [first, second] = await serveCluster({
      edge,
      http,
      nodes: 2,
      define: waitTool(called.resolve, () => cancelled.resolve()),
    });
    const { stream, say } = await open(first);
    await say(first, initializeRequest("init", "2024-11-05"));
    await say(first, { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "wait" } });
    await called.promise;
    expect(
      await say(second, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }),
    ).toBe(202);
    await cancelled.promise;
    stream.cut();
  });

  test("the principal is compared where the stream is, and scopes where the message arrives", async () => {
    const [first, second] = await serveCluster({
      nodes: 2,
      edge,
      http: { ...http, auth: authenticate },
      define: (server) => {
        define(server);
        server.tool("secret", { scopes: ["secret"] }, (_, ctx) => ctx.principal?.scopes?.join(" ") ?? "");
      },
    });
    const { stream, say } = await open(first, { "x-user": "alice" });
    await say(second, initializeRequest("init", "2024-11-05"));
    expect(await say(second, whoami, { "x-user": "bob" })).toBe(404);
    expect(await say(second, whoami, {})).toBe(404);
    expect(await say(second, whoami)).toBe(202);
    expect(await stream.message(({ id }) => id === "who")).toMatchObject({
      result: { content: [{ text: "alice" }] },
    });
    const secret = { jsonrpc: "2.0", id: "secret", method: "tools/call", params: { name: "secret" } };
    expect(await say(second, secret)).toBe(403);
    expect(await say(second, secret, { "x-user": "alice", "x-scopes": "secret" })).toBe(202);
    expect(await stream.message(({ id }) => id === "secret")).toMatchObject({
      result: { content: [{ text: "secret" }] },
    });
    stream.cut();
  });

  test("what is no JSON, or too large, is refused as at the node that has the stream", async () => {
    const [first, second] = await serveCluster({
      nodes: 2,
      edge,
      define,
      http,
      server: { limits: { maxBytes: 2000 } },
    });
    const { stream, say } = await open(first);
    for (const node of [first, second]) {
      expect(await say(node, "{")).toBe(202);
      expect(await say(node, JSON.stringify({ ...whoami, padding: "x".repeat(3000) }))).toBe(413);
    }
    await until(() => stream.messages.length === 2);
    expect(stream.messages[0]).toEqual(stream.messages[1]);
    stream.cut();
  });

  test("a stream that has ended, a made-up token, and one of a node that has left are 404", async () => {
    const [first, second] = await serveCluster({ nodes: 2, edge, define, http });
    const ended = await open(first);
    ended.stream.cut();
    await until(() => first.stats().streams === 0);
    expect(await ended.say(second, whoami)).toBe(404);
    const base = second.url.replace("/mcp", "");
    for (const token of ["nobody.abc.def", "", ".", "nothing", "..", "all.a.b"]) {
      const reply = await send(`${base}/messages?sessionId=${token}`, {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(whoami),
      });
      expect(reply.status).toBe(404);
    }
    const left = await open(first);
    await first.close();
    expect(await left.say(second, whoami)).toBe(404);
  });
});

test("a message that its node does not take in time is 503, and is not passed on again", async () => {
  const backplane = memoryBackplane();
  const [first, second] = await serveCluster({ nodes: 2, define, http, backplane });
  const { stream, say } = await open(first);
  first.engine.deafen();
  expect(await say(second, whoami)).toBe(503);
  first.engine.heal();
  second.engine.fail("send");
  expect(await say(second, whoami)).toBe(503);
  second.engine.heal();
  // A message for a third node's stream is forwarded to the wrong node.
  const engine = await engineOf(backplane);
  const [self] = first.server.cluster?.nodes().filter(({ isSelf }) => isSelf) ?? [];
  const [other] = second.server.cluster?.nodes().filter(({ isSelf }) => isSelf) ?? [];
  const body = { token: `${other?.id}.abc.def`, text: "{}", caller: "x" };
  second.engine.forget();
  first.engine.forget();
  await engine.send(String(self?.id), JSON.stringify({ v: 1, from: "nobody", kind: "sse", id: "1", body }));
  await until(async () => (await say(second, whoami)) === 202);
  expect(first.engine.asked.filter(({ args }) => String(args[1]).includes('"kind":"sse"'))).toEqual([]);
  stream.cut();
});

test("two endpoints of one server keep their streams apart", async () => {
  const backplane = memoryBackplane();
  const first = await serveNode(backplane, { define, http });
  const second = await serveNode(backplane, { define, http });
  const { serve } = await import("../support/sessions.ts");
  const sibling = { ...first, ...(await serve(first.server, http)) };
  const streams = [await open(first), await open(sibling)];
  for (const { stream, say } of streams) {
    expect(await say(second, initializeRequest("init", "2024-11-05"))).toBe(202);
    await stream.message(({ id }) => id === "init");
    stream.cut();
  }
});

test("an ordinary client of 2024-11-05 connects to a node", async () => {
  const [first] = await serveCluster({ define, http });
  const client = await SseClient.open(first);
  expect(await client.say(whoami)).toBe(202);
  await client.stream.message(({ id }) => id === "who");
  client.stream.cut();
});
