// Messages that a server sends by itself over a wire: requests, cancellations, and unexpected ones.
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { legacyDates, newestLegacy, newestModern } from "../../support/revisions.ts";
import { said, ScriptedServer, type Sent } from "../../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

interface Opened {
  readonly server: ScriptedServer;
  readonly client: McpClient;
  readonly ignored: string[];
  /** What the client answered to that id. */
  readonly answer: (id: string | number) => Promise<Sent>;
}

async function open(revision: string, options: ConnectOptions = {}): Promise<Opened> {
  const server = new ScriptedServer({ revision });
  const ignored: string[] = [];
  const observe = (event: { type: string; reason?: unknown }): void =>
    void (event.type === "ignored" && ignored.push(String(event.reason)));
  const client = await connect(server, { ...options, observe });
  onTestFinished(() => client.close());
  const answers = (id: string | number): Sent[] =>
    server.received.filter((message) => message.id === id && message.method === undefined);
  const answer = async (id: string | number): Promise<Sent> => {
    await until(() => answers(id).length > 0);
    return answers(id)[0] as Sent;
  };
  return { server, client, ignored, answer };
}

describe.each(legacyDates)("a server of %s", (revision) => {
  test("gets an empty result for its ping, with any id [PING-RESPOND, BASE-RESP-ID-ECHO]", async () => {
    const { server, answer } = await open(revision);
    server.end.send({ jsonrpc: "2.0", id: "p-1", method: "ping" });
    server.end.send({ jsonrpc: "2.0", id: 0, method: "ping" });
    server.end.send({ jsonrpc: "2.0", id: "7", method: "ping" });
    expect(await answer("7")).toEqual({ jsonrpc: "2.0", id: "7", result: {} });
    expect(await answer("p-1")).toEqual({ jsonrpc: "2.0", id: "p-1", result: {} });
    expect(await answer(0)).toMatchObject({ id: 0, result: {} });
  });

  test("gets -32601 for a request that its revision does not have", async () => {
    const { server, answer } = await open(revision);
    server.end.send({ jsonrpc: "2.0", id: 7, method: "server/panic" });
    expect(await answer(7)).toMatchObject({ error: { code: -32601 } });
  });
});

test("a server that asks twice with one id gets an error for the second", async () => {
  const gate = deferred();
  const { server, answer } = await open(newestLegacy, { roots: () => gate.promise.then(() => []) });
  const request = { jsonrpc: "2.0", id: 1, method: "roots/list" };
  server.end.send(request);
  server.end.send(request);
  expect(await answer(1)).toMatchObject({ error: { code: -32600 } });
  gate.resolve();
});

test("a question that the server cancels: the handler's signal is aborted, and there is no response [CANCEL-RECEIVER, CANCEL-RACE, CANCEL-INVALID-IGNORE]", async () => {
  const begun = deferred<AbortSignal>();
  const { server } = await open(newestLegacy, {
    onElicit: (_, { signal }) => {
      begun.resolve(signal);
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    },
  });
  const params = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
  server.end.send({ jsonrpc: "2.0", id: 5, method: "elicitation/create", params });
  const signal = await begun.promise;
  for (const requestId of [99, null, {}, "5"]) server.end.notify("notifications/cancelled", { requestId });
  server.end.notify("notifications/cancelled");
  await nextTurn();
  expect(signal.aborted).toBe(false);
  server.end.notify("notifications/cancelled", { requestId: 5, reason: "Changed my mind" });
  await until(() => signal.aborted);
  server.end.notify("notifications/cancelled", { requestId: 5 });
  await nextTurn();
  expect(server.received.filter(({ method }) => method === undefined)).toEqual([]);
});

test("a question whose wire breaks: the handler's signal is aborted", async () => {
  const begun = deferred<AbortSignal>();
  const { server, client } = await open(newestLegacy, {
    onElicit: (_, { signal }) => {
      begun.resolve(signal);
      return new Promise(() => {});
    },
  });
  const params = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
  server.end.send({ jsonrpc: "2.0", id: 5, method: "elicitation/create", params });
  const signal = await begun.promise;
  server.end.cut();
  expect(signal.aborted).toBe(true);
  await until(() => client.state.name === "ready");
});

test("a modern server that sends requests gets no response, and is reported [BASE-CLIENT-NO-RESPONSES, STDIO-MODERN-NO-CLIENT-RESPONSES, PING-REMOVED]", async () => {
  const { server, ignored } = await open(newestModern, { roots: [] });
  server.end.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  server.end.send({ jsonrpc: "2.0", id: 2, method: "roots/list" });
  await until(() => ignored.length === 2);
  expect(ignored[0]).toContain("ping");
  expect(server.received.map(({ method }) => method)).toEqual(["server/discover"]);
});

describe("messages on a wire", () => {
  test("that answer nothing, are no messages or no JSON are reported, and harm nothing", async () => {
    const { server, client, ignored } = await open(newestModern);
    server.on("tools/call", () => said("done"));
    server.end.send({ jsonrpc: "2.0", id: 999, result: {} });
    server.end.send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "?" } });
    server.end.send("not JSON");
    server.end.send({ hello: 1 });
    server.end.send("42");
    await until(() => ignored.length === 5);
    await client.callTool("pay");
    expect(ignored[0]).toContain("999");
  });

  test("in a batch are read one by one [BASE-BATCH-RECEIVE]", async () => {
    const { server, client } = await open("2025-03-26");
    server.on("tools/call", ({ id }, end) =>
      end.send([
        { jsonrpc: "2.0", id: 1, method: "ping" },
        { jsonrpc: "2.0", id, result: said("done") },
      ]),
    );
    expect(await client.callTool("pay")).toMatchObject({ content: [{ text: "done" }] });
    expect(server.received.at(-1)).toMatchObject({ id: 1, result: {} });
  });

  test("that exceed a limit fail the request that they answer, and no other", async () => {
    const { server, client, ignored } = await open(newestModern, { limits: { maxBytes: 2000, maxBatch: 2 } });
    server.on("tools/call", ({ id, params }, end) => {
      const large = { content: [{ type: "text", text: "x".repeat(5000) }] };
      const isLast = params?.["name"] === "last";
      end.send(isLast ? { result: large, jsonrpc: "2.0", id } : { jsonrpc: "2.0", id, result: large });
    });
    await expect(client.callTool("first")).rejects.toThrow("2000 bytes");
    await expect(client.callTool("last")).rejects.toThrow("2000 bytes");
    server.end.send(Array.from({ length: 3 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })));
    await until(() => ignored.length > 0);
    expect(ignored).toEqual([expect.stringContaining("2 messages")]);
  });
});
