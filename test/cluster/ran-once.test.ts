// A call that may have begun is never answered with 503 or 404, after which a client sends it again.
import type { McpServer } from "halyard";
import { expect, test } from "vitest";
import { clientAt, serveCluster } from "../support/cluster.ts";
import { send } from "../support/event-reply.ts";
import { initializeRequest } from "../support/raw.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

const withBatches = "2025-03-26";

function counting(): {
  ran: () => number;
  define: (server: McpServer) => void;
  onRun: { call: () => unknown };
} {
  let ran = 0;
  const onRun: { call: () => unknown } = { call: () => {} };
  const define = (server: McpServer): void =>
    void server.tool("act", {}, async () => {
      await onRun.call();
      return `${++ran}`;
    });
  return { ran: () => ran, define, onRun };
}

const act = { jsonrpc: "2.0", id: "act", method: "tools/call", params: { name: "act" } };
const setLevel = { jsonrpc: "2.0", id: "level", method: "logging/setLevel", params: { level: "error" } };

test("a message that the node of the stream took, and did not confirm, is 504 without Retry-After", async () => {
  const { ran, define, onRun } = counting();
  const [first, second] = await serveCluster({ nodes: 2, define, http: { legacySse: true } });
  const base = ({ url }: { url: string }): string => url.replace("/mcp", "");
  const stream = await send(`${base(first)}/sse`, {
    method: "GET",
    headers: { accept: "text/event-stream" },
  });
  await until(() => stream.events.length === 1);
  const path = String(stream.events[0]?.data);
  const say = async (message: unknown) => {
    const headers = { "content-type": "application/json" };
    const reply = await send(base(second) + path, { headers, body: JSON.stringify(message) });
    await reply.closed;
    return reply;
  };
  expect((await say(initializeRequest("init", "2024-11-05"))).status).toBe(202);
  onRun.call = () => first.engine.fail("send");
  const reply = await say(act);
  expect(ran()).toBe(1);
  expect([reply.status, reply.headers["retry-after"]]).toEqual([504, undefined]);
  stream.cut();
});

test("a batch whose change of the session cannot be stored still answers its calls", async () => {
  const { ran, define } = counting();
  const [node] = await serveCluster({ nodes: 1, define });
  const client = await SessionClient.open(node, { revision: withBatches });
  node.engine.fail("replace session");
  const reply = await client.post([act, setLevel], { accept: "application/json" });
  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject([{ id: "act", result: {} }, { id: "level" }]);
  expect(ran()).toBe(1);
  expect((await client.post({ ...setLevel, params: { level: "debug" } })).status).toBe(503);
});

test("a batch whose session ended meanwhile still answers its calls", async () => {
  const { ran, define, onRun } = counting();
  const [node, other] = await serveCluster({ nodes: 2, define });
  const client = await SessionClient.open(node, { revision: withBatches });
  onRun.call = async () => {
    node.engine.deafen();
    expect(await clientAt(other, client).delete()).toBe(204);
  };
  const reply = await client.post([act, setLevel], { accept: "application/json" });
  expect([reply.status, ran()]).toEqual([200, 1]);
  expect((await client.post(setLevel)).status).toBe(404);
});

test("a batch with an answer that cannot be passed on still answers its calls", async () => {
  const { ran, define } = counting();
  const [node, other] = await serveCluster({ nodes: 2, define });
  const client = await SessionClient.open(node, { revision: withBatches });
  const asker = other.server.cluster.nodes().find(({ isSelf }) => isSelf)?.id;
  const answer = { jsonrpc: "2.0", id: `${asker}.${crypto.randomUUID()}`, result: {} };
  node.engine.fail("send");
  expect((await client.post([answer])).status).toBe(503);
  const reply = await client.post([act, answer], { accept: "application/json" });
  expect(reply.status).toBe(200);
  expect(ran()).toBe(1);
});
