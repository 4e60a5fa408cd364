// handle() and handleRaw() as an embedding program uses them: an exchange in, an answer out, and no transport between.
import { McpServer } from "halyard";
import { Connection, type RpcMessage, type Stream } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { modernRequest } from "../../support/raw.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("count", {}, (_, ctx) => {
    ctx.progress(1, 2);
    return `Counted by ${ctx.principal?.subject ?? "nobody"} at ${ctx.address ?? "nowhere"}: ${ctx.headers?.["x-id"]}`;
  });
  return server;
}

function keepingStream(): Stream & { readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    write: (text) => written.push(text) > 0,
    congested: false,
    onDrain: () => () => {},
    onLost: () => () => {},
    destroy: () => {},
  };
}

const call = modernRequest(
  1,
  "tools/call",
  { name: "count" },
  { progressToken: "p" },
) as unknown as RpcMessage;

describe("handle()", () => {
  test("answers a parsed message, and writes its notifications to the stream of the exchange first", async () => {
    const stream = keepingStream();
    const connection = new Connection({ transport: "test" });
    const response = await makeServer().handle(call, { connection, stream });
    expect(response).toMatchObject({ id: 1, result: { content: [{ type: "text" }] } });
    expect(stream.written.map((text) => JSON.parse(text) as unknown)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "p", progress: 1, total: 2 },
      },
    ]);
  });

  test("answers without a stream as well, and then there is nothing but the answer", async () => {
    const response = await makeServer().handle(call, { connection: new Connection({ transport: "test" }) });
    expect(response).toMatchObject({ id: 1, result: { content: [{ type: "text" }] } });
  });

  test("gives the handler what the transport knows of the peer", async () => {
    const connection = new Connection({ transport: "test", principal: { issuer: "test", subject: "ada" } });
    const exchange = { connection, headers: { "x-id": "7" }, address: "192.0.2.1" };
    const response = await makeServer().handle(call, exchange);
    expect(response).toMatchObject({ result: { content: [{ text: "Counted by ada at 192.0.2.1: 7" }] } });
  });

  test("has nothing to say to a notification", async () => {
    const connection = new Connection({ transport: "test" });
    const notification = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
    expect(await makeServer().handle(notification, { connection })).toBeUndefined();
  });
});

describe("handleRaw()", () => {
  test("answers a text on its own, without an exchange", async () => {
    const answer = await makeServer().handleRaw(JSON.stringify(call));
    expect(JSON.parse(answer ?? "")).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  test("remembers nothing between texts that stand alone", async () => {
    const server = makeServer();
    const params = { protocolVersion: "2025-11-25", capabilities: {} };
    await server.handleRaw(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    const answer = await server.handleRaw('{"jsonrpc":"2.0","id":2,"method":"tools/list"}');
    expect(JSON.parse(answer ?? "")).toMatchObject({ id: 2, error: { code: -32600 } });
  });

  test("writes notifications to the stream of the exchange before it answers", async () => {
    const stream = keepingStream();
    const connection = new Connection({ transport: "test" });
    const answer = await makeServer().handleRaw(JSON.stringify(call), { connection, stream });
    expect(stream.written).toHaveLength(1);
    expect(JSON.parse(answer ?? "")).toMatchObject({ id: 1 });
  });
});
