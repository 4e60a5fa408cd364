// What clients send and another node needs: only what means something there travels, in few bytes, counted for its caller.
import type { JsonObject, McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { type ClusterOptions, clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import { send } from "../support/event-reply.ts";
import { nodeId } from "../support/nodes.ts";
import { initializeRequest } from "../support/raw.ts";
import { sendModern, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

const megabytes4 = "x".repeat(4_000_000);
const http = { legacySse: true };
const capabilities = { elicitation: { form: {} } };
const form = { type: "object", properties: { name: { type: "string" } } } as const;

function define(server: McpServer): void {
  server.tool("echo", {}, () => "echo");
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = (await ctx.elicit("Who?", form)) as { name: string };
    return `${name.length}`;
  });
}

/** The characters that nodes have sent to each other since the last call, beats left out. */
function sentBy(nodes: readonly TestNode[]): number {
  const texts = nodes.flatMap(({ engine }) =>
    engine.asked.filter(({ operation }) => operation === "send").map(({ args }) => String(args[1])),
  );
  for (const { engine } of nodes) engine.forget();
  return texts
    .filter((text) => !/"kind":"(?:beat|hello)"/.test(text))
    .reduce((sum, { length }) => sum + length, 0);
}

/** Opens an HTTP+SSE stream, and resolves with it and the path of its messages. */
async function openSse(node: TestNode, headers: Record<string, string> = {}) {
  const base = node.url.replace("/mcp", "");
  const accept = { accept: "text/event-stream", ...headers };
  const stream = await send(`${base}/sse`, { method: "GET", headers: accept });
  await until(() => stream.events.length === 1);
  const path = String(stream.events.shift()?.data);
  return { stream, path, headers };
}

async function sayAt(node: TestNode, path: string, message: unknown, headers: Record<string, string> = {}) {
  const url = node.url.replace("/mcp", "") + path;
  const all = { "content-type": "application/json", ...headers };
  const reply = await send(url, { headers: all, body: JSON.stringify(message) });
  await reply.closed;
  return reply;
}

describe.each(engineRows)("$name", (row) => {
  const engine = onEngine(row);
  const serve = (options: ClusterOptions = {}): ReturnType<typeof serveCluster> =>
    serveCluster({ backplane: engine.backplane, define, http, ...options });

  test("a flood of unknown cancellations with long reasons costs other nodes little, and a bystander is answered", async () => {
    const nodes = await serve();
    const attacker = await SessionClient.open(nodes[0]);
    const bystander = await SessionClient.open(nodes[1]);
    sentBy(nodes);
    const cancel = (requestId: number): Promise<number> =>
      attacker.say({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId, reason: megabytes4 },
      });
    for (let round = 0; round < 5; round++) {
      expect(await Promise.all([1, 2, 3, 4].map((at) => cancel(10 * round + at)))).toEqual([
        202, 202, 202, 202,
      ]);
      expect(await bystander.request("tools/call", { name: "echo" })).toHaveProperty("result");
    }
    // 80 MB have arrived.
    expect(sentBy(nodes)).toBeLessThan(20 * 1000);
  });

  test("a message with a forged token is not passed on, and one with its true token is", async () => {
    const nodes = await serve();
    const { stream, path } = await openSse(nodes[0]);
    sentBy(nodes);
    const forged = `${path.slice(0, -6)}forged`;
    const large = { jsonrpc: "2.0", id: 1, method: "ping", params: { megabytes4 } };
    for (const at of [1, 2] as const) expect((await sayAt(nodes[at], forged, large)).status).toBe(404);
    expect(sentBy(nodes)).toBeLessThan(2000);
    expect((await sayAt(nodes[1], path, initializeRequest("init", "2024-11-05"))).status).toBe(202);
    await stream.message(({ id }) => id === "init");
    stream.cut();
  });

  test("an answer to a question that was never asked is not passed on, and a true one is, however long", async () => {
    const nodes = await serve();
    const client = await SessionClient.open(nodes[0], { capabilities });
    const elsewhere = clientAt(nodes[1], client);
    const call = await client.call("ask");
    const question = await call.message(({ method }) => method === "elicitation/create");
    sentBy(nodes);
    const forged = { id: `${nodeId(nodes[0].server)}.${crypto.randomUUID()}` };
    const answer = (name: string): JsonObject => ({ result: { action: "accept", content: { name } } });
    expect(await elsewhere.answer(forged, answer(megabytes4))).toBe(202);
    expect(sentBy(nodes)).toBeLessThan(2000);
    expect(await elsewhere.answer(question, answer("x".repeat(500_000)))).toBe(202);
    expect(await call.message(({ result }) => result !== undefined)).toMatchObject({
      result: { content: [{ text: "500000" }] },
    });
  });
});

test("a cancellation waits until the engine has it", async () => {
  const [node] = await serveCluster({ define, nodes: 2 });
  const client = await SessionClient.open(node);
  const gate = deferred();
  node.engine.delay("send", () => gate.promise);
  let isAnswered = false;
  const said = client.say({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });
  void said.then(() => (isAnswered = true));
  // A call on the same connection is answered meanwhile.
  expect(await client.request("tools/call", { name: "echo" })).toHaveProperty("result");
  expect(isAnswered).toBe(false);
  gate.resolve();
  expect(await said).toBe(202);
});

test("a caller with much on its way to other nodes is refused, and a bystander is not", async () => {
  const auth = (request: { header(name: string): string | undefined }) => {
    const subject = request.header("x-user");
    return subject === undefined ? undefined : { issuer: "https://issuer.example", subject };
  };
  const [first, second] = await serveCluster({ define, nodes: 2, http: { ...http, auth } });
  const attacker = await openSse(first, { "x-user": "attacker" });
  const bystander = await openSse(first, { "x-user": "bystander" });
  // The lookups pass, and what follows them stays on its way.
  const gate = deferred();
  second.engine.delay("send", async () => {
    if (/"kind":"sse"/.test(String(second.engine.asked.at(-1)?.args[1]))) await gate.promise;
  });
  const large = { jsonrpc: "2.0", method: "notifications/x", params: { megabytes4 } };
  const say = (opened: typeof attacker, message: object) =>
    sayAt(second, opened.path, message, opened.headers);
  const sent = Array.from({ length: 6 }, () => say(attacker, large));
  const refused = await Promise.race(sent);
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  const onWay = second.engine.asked.filter(({ args }) => String(args[1]).length > 4_000_000);
  expect(onWay).toHaveLength(2);
  const said = say(bystander, initializeRequest("init", "2024-11-05"));
  await until(() => second.engine.asked.some(({ args }) => String(args[1]).includes('"init')));
  gate.resolve();
  expect((await said).status).toBe(202);
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses).toContain(202);
  for (const { stream } of [attacker, bystander]) stream.cut();
});

test("callers without a principal that answer tasks of another node have shares of their own", async () => {
  const defineTask = (server: McpServer): void => {
    server.tool("ask", { task: "required" }, async (_, ctx) => {
      await ctx.elicit("Who?", form, { key: "who" });
      return "done";
    });
  };
  const [first, second] = await serveCluster({ define: defineTask, nodes: 2, http: { trustProxy: true } });
  const meta = {
    "io.modelcontextprotocol/clientCapabilities": {
      elicitation: { form: {} },
      extensions: { "io.modelcontextprotocol/tasks": {} },
    },
  };
  const begin = async (address: string) => {
    const options = { headers: { "x-forwarded-for": address }, meta };
    const call = await sendModern(first.url, "tools/call", { name: "ask", arguments: {} }, options);
    const { taskId } = (await call.json())["result"] as { taskId: string };
    return async (name: string): Promise<JsonObject> => {
      const inputResponses = { who: { action: "accept", content: { name } } };
      return (await sendModern(second.url, "tasks/update", { taskId, inputResponses }, options)).json();
    };
  };
  const [attack, answer] = [await begin("203.0.113.7"), await begin("198.51.100.9")];
  const gate = deferred();
  second.engine.delay("send", async () => {
    const { length } = String(second.engine.asked.at(-1)?.args[1]);
    if (length > 1_000_000) await gate.promise;
  });
  const sent = Array.from({ length: 4 }, () => attack(megabytes4));
  expect(await Promise.race(sent)).toMatchObject({ error: { code: -32603 } });
  expect(await answer("x".repeat(500_000))).toHaveProperty("result");
  gate.resolve();
  await Promise.all(sent);
});
