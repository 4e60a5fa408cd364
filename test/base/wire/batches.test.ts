// Batches: part of 2025-03-26 and of no other revision.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { cells, describeMatrix, pipes } from "../../support/matrix.ts";
import {
  type Answer,
  answersTo,
  initializeRequest,
  modernRequest,
  newestModern,
  rawPeer,
  RawPeer,
  unreadableId,
} from "../../support/raw.ts";

const withBatches = "2025-03-26";

function makeServer(): { server: McpServer; ran: string[] } {
  const ran: string[] = [];
  const limits = { maxBatch: 5 };
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits, logger: recordingLogger() });
  server.tool("slow", {}, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    ran.push("slow");
    return "slow";
  });
  server.tool("quick", {}, () => {
    ran.push("quick");
    return "quick";
  });
  return { server, ran };
}

const call = (id: unknown, name: string): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name },
});
const ping = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "ping" });
const notification = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1 } };

/** A batch has no order, so the answers are compared by id. */
const byId = (answers: readonly Answer[] | undefined): Map<unknown, Answer> =>
  new Map((answers ?? []).map((answer) => [answer.id, answer]));

describe("a batch on 2025-03-26", () => {
  test("is answered by one array with an answer to each request [BASE-BATCH-RECEIVE, BASE-JSONRPC-2]", async () => {
    const peer = await rawPeer(makeServer().server, withBatches);
    const answers = await peer.say<Answer[]>([call(1, "slow"), call("1", "quick"), ping(2)]);
    expect(Array.isArray(answers)).toBe(true);
    expect(answers).toHaveLength(3);
    expect(byId(answers).get(1)).toMatchObject({ jsonrpc: "2.0", result: { content: [{ text: "slow" }] } });
    expect(byId(answers).get("1")).toMatchObject({
      jsonrpc: "2.0",
      result: { content: [{ text: "quick" }] },
    });
    expect(byId(answers).get(2)).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
  });

  test("runs its requests side by side: none waits for the one before it", async () => {
    const { server, ran } = makeServer();
    const peer = await rawPeer(server, withBatches);
    await peer.say([call(1, "slow"), call(2, "quick")]);
    expect(ran).toEqual(["quick", "slow"]);
  });

  test("of one request is still answered by an array [BASE-BATCH-RECEIVE]", async () => {
    const peer = await rawPeer(makeServer().server, withBatches);
    expect(await peer.say([ping(1)])).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  });

  test("may mix requests, notifications, responses and what is invalid; only the last is refused [BASE-BATCH-RECEIVE, BASE-NOTIF-NO-REPLY]", async () => {
    const peer = await rawPeer(makeServer().server, withBatches);
    const answers = await peer.say<Answer[]>([
      ping(1),
      notification,
      { jsonrpc: "2.0", id: 9, result: {} },
      { jsonrpc: "2.0", id: null, method: "ping" },
      { jsonrpc: "2.0", id: 3, method: "no/such/method" },
    ]);
    expect(answers).toHaveLength(3);
    expect(byId(answers).get(1)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(byId(answers).get(null)).toMatchObject({ error: { code: -32600 } });
    expect(byId(answers).get(3)).toMatchObject({ error: { code: -32601 } });
  });

  test.each(["[1]", '["text",null,true]', "[[]]", "[[[1]]]", "[{}]"])(
    "%s is refused entry by entry, each with an id of null [BASE-BATCH-RECEIVE]",
    async (text) => {
      const peer = await rawPeer(makeServer().server, withBatches);
      const entries = JSON.parse(text) as unknown[];
      const refusal = { jsonrpc: "2.0", id: null, error: { code: -32600, message: expect.any(String) } };
      expect(await peer.sayText(text)).toEqual(entries.map(() => refusal));
    },
  );

  test("of notifications and responses alone is not answered at all [BASE-NOTIF-NO-REPLY]", async () => {
    const peer = await rawPeer(makeServer().server, withBatches);
    expect(await peer.exact(JSON.stringify([notification, notification]))).toBeUndefined();
    expect(
      await peer.exact(JSON.stringify([notification, { jsonrpc: "2.0", id: 1, result: {} }])),
    ).toBeUndefined();
  });

  test("that is empty is one invalid request, not an empty array", async () => {
    const peer = await rawPeer(makeServer().server, withBatches);
    expect(await peer.say([])).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "A batch must not be empty" },
    });
  });

  test("of more than maxBatch messages is refused whole, and none of them runs", async () => {
    const { server, ran } = makeServer();
    const peer = await rawPeer(server, withBatches);
    const batch = (count: number): object[] => Array.from({ length: count }, (_, id) => call(id, "quick"));
    expect(await peer.say(batch(6))).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "A batch may have at most 5 messages, not 6" },
    });
    expect(ran).toEqual([]);
    expect(await peer.say<Answer[]>(batch(5))).toHaveLength(5);
  });

  test("with an initialize in it is refused whole, and none of it runs", async () => {
    const { server, ran } = makeServer();
    const peer = await rawPeer(server, withBatches);
    const batch = [call(1, "quick"), initializeRequest(2, "2024-11-05")];
    expect(await peer.say(batch)).toMatchObject({ id: null, error: { code: -32600 } });
    expect(ran).toEqual([]);
  });

  test("a request in it that fails spoils no other one", async () => {
    const { server } = makeServer();
    server.tool("boom", {}, () => {
      throw new Error("boom");
    });
    server.resource("test://huge", {}, () => [{ uri: "test://huge", text: 1n as never }]);
    const peer = await rawPeer(server, withBatches);
    const read = { jsonrpc: "2.0", id: 2, method: "resources/read", params: { uri: "test://huge" } };
    const answers = await peer.say<Answer[]>([call(1, "boom"), read, call(3, "quick")]);
    expect(byId(answers).get(1)).toMatchObject({ result: { isError: true } });
    expect(byId(answers).get(2)).toMatchObject({ error: { code: -32603 } });
    expect(byId(answers).get(3)).toMatchObject({ result: { content: [{ text: "quick" }] } });
  });
});

describeMatrix(
  "a batch over a transport",
  { since: withBatches, until: withBatches, transports: pipes },
  (cell) => {
    test("has all of its requests answered [BASE-BATCH-RECEIVE]", async () => {
      const client = await cell.connect(makeServer().server);
      const answers = await answersTo(client, JSON.stringify([ping("a"), notification, ping("b")]));
      expect(answers).toEqual([
        { jsonrpc: "2.0", id: "a", result: {} },
        { jsonrpc: "2.0", id: "b", result: {} },
      ]);
      await client.close();
    });

    test("has the second of two requests with one id refused: their answers could not be told apart", async () => {
      const client = await cell.connect(makeServer().server);
      client.send([call(7, "slow"), call(7, "quick")]);
      const answersOf7 = (): unknown[] =>
        client.received.filter((message) => "id" in message && message.id === 7);
      await client.waitFor(() => answersOf7().length === 2);
      expect(answersOf7()).toMatchObject([{ result: {} }, { error: { code: -32600 } }]);
      await client.close();
    });
  },
);

const revisionsWithout = cells({ transports: pipes }).filter(({ revision }) => revision !== withBatches);

describe.each(revisionsWithout)("a batch on $revision · $transport", (cell) => {
  test.each([
    ["requests", [ping(1), ping(2)]],
    ["one request", [ping(1)]],
    ["notifications", [notification]],
    ["modern requests", [modernRequest(1, "tools/list"), modernRequest(2, "server/discover")]],
    ["nothing", []],
  ])("of %s is one invalid request, and nothing in it runs [BASE-BATCH-REMOVED]", async (_, batch) => {
    const { server } = makeServer();
    const seen: string[] = [];
    const watched = server.onNotification((method) => void seen.push(method));
    const client = await cell.connect(watched);
    seen.length = 0;
    expect(await answersTo(client, JSON.stringify(batch))).toEqual([
      {
        jsonrpc: "2.0",
        ...unreadableId(cell.revision),
        error: { code: -32600, message: "Batches are not part of this protocol revision" },
      },
    ]);
    expect(seen).toEqual([]);
    await client.close();
  });
});

describe("a batch before the handshake", () => {
  test("is refused, with initialize in it or without: no revision has been agreed on that has batches", async () => {
    const { server } = makeServer();
    for (const batch of [
      [initializeRequest(1, withBatches)],
      [initializeRequest(1, withBatches), ping(2)],
      [ping(1)],
    ]) {
      const peer = new RawPeer(server, newestModern);
      expect(await peer.say(batch)).toMatchObject({ error: { code: -32600 } });
      expect(peer.connection.revision).toBeUndefined();
    }
  });
});
