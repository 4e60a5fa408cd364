// Nodes are killed, halted and stopped while they run calls, hold streams and ask: clients continue on other nodes and lose nothing.
import type { JsonObject } from "halyard";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { EngineProcess } from "../support/engines.ts";
import type { EventReply } from "../support/event-reply.ts";
import { logDataOf, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { clusterEngines } from "./engines.ts";
import { type NodeName, nodeNames, Nodes, victim } from "./nodes.ts";

/** Milliseconds that a node is halted at least, longer than its lease. */
const haltMs = 60_000;

const gone = /^The node that ran this call is gone/;
const isResponse = (id: string) => (message: JsonObject) =>
  message["id"] === id && message["method"] === undefined;
const isQuestion = ({ id, method }: JsonObject): boolean => id !== undefined && method !== undefined;
const count = (length: number): number[] => Array.from({ length }, (_, at) => at + 1);

/** A client, and a stream that it has open. */
interface Held {
  readonly client: SessionClient;
  readonly stream: EventReply;
}

/** The numbers that the streams of one client got, without what calls log themselves. */
function numbersOn(...streams: readonly EventReply[]): unknown[] {
  return streams.flatMap(({ messages }) => logDataOf(messages));
}

describe.each(clusterEngines)("three nodes on $name", ({ program }) => {
  let engine: EngineProcess;
  let nodes: Nodes;

  beforeAll(async () => {
    engine = await EngineProcess.start(program);
    nodes = await Nodes.start({ command: victim, backplane: engine.url, args: ["--grace-ms", "1000"] });
  }, 60_000);

  afterAll(async () => {
    await nodes.stop();
    await engine.stop();
  });

  const headers = (node: NodeName): { headers: Record<string, string> } => ({ headers: { "x-node": node } });

  function on(node: NodeName, client: SessionClient): SessionClient {
    return clientAt(nodes, client, headers(node));
  }

  /** A session that node a has begun. */
  function open(): Promise<SessionClient> {
    return SessionClient.open(nodes, { ...headers("a"), capabilities: { elicitation: {} } });
  }

  function call(node: NodeName, client: SessionClient, name: string, args: JsonObject): Promise<EventReply> {
    return on(node, client).start("tools/call", { name, arguments: args }, name);
  }

  async function textOf(
    node: NodeName,
    client: SessionClient,
    name: string,
    args: JsonObject,
  ): Promise<string> {
    const params = { name, arguments: args };
    const { result } = (await on(node, client).request("tools/call", params, `${name} once`)) as {
      result?: { content: { text: string }[] };
    };
    return result?.content[0]?.text ?? "";
  }

  /** Pushes numbers from one up to the session, and resolves when the node has pushed the last. */
  async function push(node: NodeName, client: SessionClient, lane: string, numbers: number): Promise<void> {
    const args = { session: client.id, lane, count: numbers, everyMs: 1 };
    expect(await textOf(node, client, "push", args)).toBe(`Pushed ${numbers}`);
  }

  /** Begins a call of `work` that takes so long, or waits for `release`. Resolves when its client could resume it. */
  async function work(node: NodeName, client: SessionClient, key: string, ms?: number): Promise<EventReply> {
    const working = await call(node, client, "work", ms === undefined ? { key } : { key, ms });
    await until(() => working.lastEventId !== undefined);
    return working;
  }

  /** The one response on a stream that has ended. */
  async function onlyResponse(stream: EventReply, id: string): Promise<JsonObject> {
    await stream.message(isResponse(id), 20_000);
    await stream.closed;
    const responses = stream.messages.filter(isResponse(id));
    expect(responses).toHaveLength(1);
    return responses[0] ?? {};
  }

  describe("node a is killed", () => {
    /** What each client has received from node a when that is killed. */
    let early: Held;
    let late: Held;
    let holder: Held;
    let asker: Held;
    let asked: Held;
    let unasked: Held;
    let pushing: Promise<void>;
    let pings: Promise<string>[];

    beforeAll(async () => {
      const clients = await Promise.all(Array.from({ length: 6 }, open));
      const hold = async (begin: (client: SessionClient) => Promise<EventReply>): Promise<Held> => {
        const client = clients.pop() ?? (await open());
        return { client, stream: await begin(client) };
      };
      early = await hold((client) => work("a", client, "early"));
      late = await hold((client) => work("a", client, "late"));
      asker = await hold((client) => call("a", client, "ask", { key: "asker" }));
      for (const each of [0, 1, 2]) {
        const held = await hold((client) => on("a", client).get());
        await until(() => held.stream.lastEventId !== undefined);
        if (each === 0) holder = held;
        else if (each === 1) asked = held;
        else unasked = held;
      }
      await asker.stream.message(isQuestion);
      const lateElsewhere = await on("b", late.client).get(late.stream.lastEventId);
      await textOf("a", late.client, "release", { key: "late" });
      await lateElsewhere.message(isResponse("work"));
      const ping = ({ client }: Held): Promise<string> => textOf("b", client, "ping", { session: client.id });
      pings = [ping(asked)];
      await asked.stream.message(isQuestion);
      pushing = push("b", holder.client, "holder", 300);
      await until(() => numbersOn(holder.stream).length >= 20);
      nodes.node("a").pause();
      pings.push(ping(unasked));
      await nodes.kill("a");
      await Promise.all([early, holder, asker, asked, unasked].map(({ stream }) => stream.closed));
    }, 60_000);

    afterAll(() => nodes.start("a"), 60_000);

    test("a call without a result ends with one error on the resumed stream, for every client that resumes it", async () => {
      const { client, stream } = early;
      const [one, other] = await Promise.all(
        (["b", "c"] as const).map((node) => on(node, client).get(stream.lastEventId)),
      );
      // The client has one connection for a stream: the later one has it.
      await until(() => [one, other].some((each) => each?.messages.some(isResponse("work"))), 20_000);
      const again = await on("b", client).get(stream.lastEventId);
      expect(await onlyResponse(again, "work")).toMatchObject({
        error: { code: -32603, message: expect.stringMatching(gone) as unknown },
      });
    });

    test("a result that was logged comes at once, on every node", async () => {
      for (const node of ["b", "c"] as const) {
        const replayed = await on(node, late.client).get(late.stream.lastEventId);
        expect(await onlyResponse(replayed, "work")).toMatchObject({
          result: { content: [{ text: "Worked on late" }] },
        });
      }
    });

    test("what others push to its GET stream meanwhile comes elsewhere, every number once and in order", async () => {
      const { client, stream } = holder;
      const resumed = await on("c", client).get(stream.lastEventId);
      await pushing;
      await until(() => numbersOn(resumed).includes(300));
      expect(numbersOn(stream, resumed)).toEqual(count(300));
      await resumed.vanish();
    });

    test("the answer to its question is accepted elsewhere, and the call ends with one error", async () => {
      const { client, stream } = asker;
      const question = await stream.message(isQuestion);
      const resumed = await on("c", client).get(stream.lastEventId);
      const answer = { result: { action: "accept", content: { name: "Ada" } } };
      const statuses: number[] = [];
      await until(async () => {
        statuses.push(await on("b", client).answer(question, answer));
        return statuses.at(-1) === 202;
      }, 20_000);
      expect(statuses.every((status) => status === 503 || status === 202)).toBe(true);
      expect(await onlyResponse(resumed, "ask")).toMatchObject({
        error: { message: expect.stringMatching(gone) as unknown },
      });
      expect(resumed.messages.filter(isQuestion)).toEqual([]);
    });

    test("a question that its client does not have yet is asked elsewhere, and answered", async () => {
      const { client, stream } = unasked;
      const resumed = await on("c", client).get(stream.lastEventId);
      const question = await resumed.message(isQuestion);
      expect(await on("b", client).answer(question, { result: {} })).toBe(202);
      expect(await pings[1]).toBe("Alive");
      expect([...stream.messages, ...resumed.messages].filter(isQuestion)).toHaveLength(1);
      await resumed.vanish();
    });

    test("a question that its client has is not asked again", async () => {
      const { client, stream } = asked;
      const question = await stream.message(isQuestion);
      const resumed = await on("c", client).get(stream.lastEventId);
      expect(await on("c", client).answer(question, { result: {} })).toBe(202);
      expect(await pings[0]).toBe("Alive");
      await push("b", client, "later", 1);
      await until(() => numbersOn(resumed).length === 1);
      expect(resumed.messages.filter(isQuestion)).toEqual([]);
      await resumed.vanish();
    });
  });

  test(
    "a node that is halted, and continues when others have taken its streams over, changes nothing",
    async () => {
      const client = await open();
      const stream = await on("a", client).get();
      const working = await work("a", client, "zombie");
      await push("b", client, "before", 2);
      await until(() => numbersOn(stream).length === 2);
      nodes.node("a").pause();
      const haltedAt = performance.now();
      stream.cut();
      working.cut();
      await push("b", client, "while", 3);
      const resumed = await on("c", client).get(stream.lastEventId);
      await until(() => numbersOn(resumed).length === 3);
      const failed = await on("b", client).get(working.lastEventId);
      const error = await onlyResponse(failed, "work");
      expect(error).toMatchObject({ error: { message: expect.stringMatching(gone) as unknown } });
      await until(async () => (await textOf("b", client, "who", {})).endsWith(" of 2"), 20_000);
      await until(() => performance.now() - haltedAt > haltMs, haltMs + 20_000);
      await push("c", client, "gone", 3);
      nodes.node("a").resume();
      expect(await textOf("a", client, "release", { key: "zombie" })).toBe("Released");
      await until(() => nodes.node("a").stderr().includes("finished zombie"));
      await push("a", client, "after", 2);
      await until(() => numbersOn(resumed).length === 8);
      expect(numbersOn(resumed)).toEqual([1, 2, 3, 1, 2, 3, 1, 2]);
      for (const node of nodeNames) {
        const replayed = await on(node, client).get(working.lastEventId);
        expect(await onlyResponse(replayed, "work")).toEqual(error);
      }
      await until(async () => (await textOf("b", client, "who", {})).endsWith(" of 3"));
      await resumed.vanish();
    },
    haltMs + 40_000,
  );

  test("a node that wakes up writes nothing that came before its client resumed elsewhere", async () => {
    const client = await open();
    const stream = await on("a", client).get();
    await push("b", client, "before", 2);
    await until(() => numbersOn(stream).length === 2);
    nodes.node("a").pause();
    const haltedAt = performance.now();
    await push("b", client, "while", 3);
    const resumed = await on("c", client).get(stream.lastEventId);
    await until(() => numbersOn(resumed).length === 3);
    await until(() => performance.now() - haltedAt > 3000);
    nodes.node("a").resume();
    // Its client still reads the old connection.
    await stream.closed;
    await push("a", client, "after", 2);
    await until(() => numbersOn(resumed).length === 5);
    expect(numbersOn(stream)).toEqual([1, 2]);
    expect(numbersOn(resumed)).toEqual([1, 2, 3, 1, 2]);
    await resumed.vanish();
  });

  test("a node that is stopped finishes calls in its time, ends its streams, and clients continue elsewhere", async () => {
    const client = await open();
    const stream = await on("a", client).get();
    await push("b", client, "before", 2);
    await until(() => numbersOn(stream).length === 2);
    const long = await work("a", client, "long");
    const short = await work("a", client, "short", 500);
    const stopped = nodes.stopNode("a");
    expect(await onlyResponse(short, "work")).toMatchObject({
      result: { content: [{ text: "Worked on short" }] },
    });
    await Promise.all([stream.closed, long.closed]);
    await push("b", client, "while", 3);
    const resumed = await on("c", client).get(stream.lastEventId);
    const failed = await on("b", client).get(long.lastEventId);
    expect(await stopped).toBe(0);
    await push("b", client, "after", 2);
    await until(() => numbersOn(resumed).length === 5);
    expect(numbersOn(stream, resumed)).toEqual([1, 2, 1, 2, 3, 1, 2]);
    expect(stream.end).toBe("complete");
    expect(await onlyResponse(failed, "work")).toMatchObject({ error: {} });
    await resumed.vanish();
  });
});
