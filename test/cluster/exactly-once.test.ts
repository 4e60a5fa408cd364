// Under random cuts, with each request on another node, every message of a session arrives once, in order, and nothing else does.
import fc from "fast-check";
import type { JsonObject, McpServer } from "halyard";
import { describe, expect, onTestFinished, test } from "vitest";
import { backplanes, startBackplane } from "../support/backplanes.ts";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { logDataOf, SessionClient } from "../support/sessions.ts";
import { nextTurn, until } from "../support/turns.ts";

const note = "notifications/message";

/** A client that keeps every message it gets, and comes back on another node after the last event it has seen. */
class Wanderer {
  readonly received: JsonObject[] = [];
  sent = 0;
  cuts = 0;
  readonly #nodes: readonly TestNode[];
  readonly #client: SessionClient;
  #stream: EventReply | undefined;
  #lastEventId: string | undefined;

  private constructor(nodes: readonly TestNode[], client: SessionClient) {
    this.#nodes = nodes;
    this.#client = client;
  }

  static async begin(nodes: readonly TestNode[], at: number): Promise<Wanderer> {
    const wanderer = new Wanderer(nodes, await SessionClient.open(nodes[at] as TestNode));
    await wanderer.resume(at);
    await until(() => wanderer.#lastEventId !== undefined);
    return wanderer;
  }

  get numbers(): unknown[] {
    return logDataOf(this.received);
  }

  at(node: number): SessionClient {
    return clientAt(this.#nodes[node] as TestNode, this.#client);
  }

  follow(stream: EventReply): void {
    this.#stream = stream;
    const take = ({ id, data }: { id?: string; data?: string }): void => {
      this.#lastEventId = id ?? this.#lastEventId;
      if (data) this.received.push(JSON.parse(data) as JsonObject);
    };
    for (const event of stream.events) take(event);
    stream.onEvent = take;
  }

  /** Pushes the next numbers from a node, each after the one before is in the log. */
  async push(count: number, node: number): Promise<void> {
    const { server } = this.#nodes[node] as TestNode;
    for (let at = 0; at < count; at++) {
      const data = ++this.sent;
      expect(await server.push.toSession(this.#client.id, note, { level: "info", data })).toBe(true);
    }
  }

  /** The client hangs up: what arrives from now on, it does not see. */
  cut(): void {
    if (this.#stream === undefined) return;
    if (this.#stream.end === undefined) this.cuts++;
    this.#stream.onEvent = () => {};
    this.#stream.cut();
    this.#stream = undefined;
  }

  /** Resumes on a node, whether the old connection is still open there or elsewhere, or gone. */
  async resume(node: number): Promise<void> {
    const old = this.#stream;
    // From here on it reads only what comes after the last event that it names.
    if (old !== undefined) old.onEvent = () => {};
    this.follow(await this.at(node).get(this.#lastEventId));
    old?.cut();
  }

  get isConnected(): boolean {
    return this.#stream !== undefined && this.#stream.end === undefined;
  }
}

type Step =
  | { readonly kind: "push"; readonly count: number }
  | { readonly kind: "cut" | "resume" | "move" | "turn" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("push" as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 5, arbitrary: fc.constant<Step>({ kind: "resume" }) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "cut" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "move" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "turn" }) },
);

async function perform(what: Step, wanderer: Wanderer, node: number): Promise<void> {
  switch (what.kind) {
    case "push":
      return wanderer.push(what.count, node);
    case "cut":
      return wanderer.cut();
    case "resume":
      return wanderer.isConnected ? undefined : wanderer.resume(node);
    case "move":
      return wanderer.resume(node);
    default:
      return nextTurn();
  }
}

/** What happens to messages and entries on their way to the nodes. */
const ways: Readonly<Record<string, (nodes: readonly TestNode[]) => void>> = {
  "in order": () => {},
  "twice and late": (nodes) => {
    for (const { engine } of nodes) engine.disorder();
  },
};

const rows = backplanes.filter(({ name }) => !name.includes("Cluster"));

describe.each(rows)("three nodes on $name", (row) => {
  const runs = row.name === "memory" ? 8 : 3;

  test.each(Object.keys(ways))(
    "a session gets every push exactly once and in order: deliveries %s",
    async (way) => {
      const running = await startBackplane(row);
      onTestFinished(async () => void (await running.close()));
      const nodes = await serveCluster({ backplane: running.backplane });
      ways[way]?.(nodes);
      const place = fc.nat(nodes.length - 1);
      let cuts = 0;
      const property = fc.asyncProperty(
        fc.array(fc.tuple(step, place), { minLength: 80, maxLength: 80 }),
        place,
        async (steps, start) => {
          const wanderer = await Wanderer.begin(nodes, start);
          for (const [what, node] of steps) await perform(what, wanderer, node);
          await wanderer.push(1, start);
          await until(async () => {
            if (!wanderer.isConnected) await wanderer.resume(start);
            return wanderer.numbers.length >= wanderer.sent;
          });
          await nextTurn();
          expect(wanderer.numbers).toEqual(Array.from({ length: wanderer.sent }, (_, at) => at + 1));
          cuts += wanderer.cuts;
          wanderer.cut();
          expect(await wanderer.at(start).delete()).toBe(204);
        },
      );
      await fc.assert(property, { seed: 20251125, numRuns: runs, endOnFailure: true });
      expect(cuts).toBeGreaterThan(runs);
    },
    60_000,
  );

  test.each(Object.keys(ways))(
    "a call is answered exactly once, wherever its client resumes: deliveries %s",
    async (way) => {
      const running = await startBackplane(row);
      onTestFinished(async () => void (await running.close()));
      const ends: (() => void)[] = [];
      const define = (server: McpServer): void => {
        server.tool("wait", {}, async (_, ctx) => {
          await ctx.log("info", "started");
          await new Promise<void>((resolve) => ends.push(resolve));
          return "done";
        });
      };
      const nodes = await serveCluster({ backplane: running.backplane, define });
      ways[way]?.(nodes);
      const place = fc.nat(nodes.length - 1);
      const property = fc.asyncProperty(
        fc.array(fc.tuple(fc.boolean(), place), { minLength: 6, maxLength: 6 }),
        place,
        fc.nat(5),
        async (moves, start, endsAfter) => {
          const wanderer = await Wanderer.begin(nodes, start);
          wanderer.cut();
          wanderer.received.length = 0;
          wanderer.follow(await wanderer.at(start).call("wait"));
          await until(() => wanderer.received.length > 0);
          for (const [at, [cut, node]] of moves.entries()) {
            if (at === endsAfter) ends.shift()?.();
            if (cut) wanderer.cut();
            if (wanderer.received.some(({ result }) => result !== undefined)) break;
            await wanderer.resume(node);
          }
          await until(async () => {
            const isAnswered = wanderer.received.some(({ result }) => result !== undefined);
            if (!isAnswered && !wanderer.isConnected) await wanderer.resume(start);
            return isAnswered;
          });
          const answers = wanderer.received.filter(({ method }) => method === undefined);
          expect(answers).toMatchObject([{ result: { content: [{ text: "done" }] } }]);
          wanderer.cut();
          await wanderer.at(start).delete();
        },
      );
      await fc.assert(property, { seed: 20251125, numRuns: runs, endOnFailure: true });
    },
    60_000,
  );
});
