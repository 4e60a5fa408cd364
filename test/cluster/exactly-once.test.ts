// Under random cuts, with each request on another node, every message of a session arrives once, in order, and nothing else does.
import fc from "fast-check";
import type { McpServer } from "halyard";
import { describe, expect, onTestFinished, test } from "vitest";
import { backplanes, startBackplane } from "../support/backplanes.ts";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { Follower } from "../support/follower.ts";
import { logDataOf, SessionClient } from "../support/sessions.ts";
import { nextTurn, until } from "../support/turns.ts";

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

async function perform(what: Step, follower: Follower, node: number): Promise<void> {
  switch (what.kind) {
    case "push":
      return follower.push(what.count, node);
    case "cut":
      return follower.cut();
    case "resume":
      return follower.isConnected ? undefined : follower.resume(node);
    case "move":
      return follower.resume(node);
    default:
      return nextTurn();
  }
}

type StrangeStep = "push" | "move" | "twins" | "half-open" | "attack";

const strangeStep: fc.Arbitrary<StrangeStep> = fc.constantFrom<StrangeStep[]>(
  "push",
  "push",
  "push",
  "move",
  "twins",
  "half-open",
  "attack",
);

/** Resumes the victim's stream in the attacker's own session, and hears nothing of it. */
async function attack(attacker: SessionClient, node: TestNode, victim: Follower): Promise<void> {
  const forged = clientAt(node, attacker);
  for (const id of [victim.lastEventId, victim.lastEventId?.replace(/\d/, "9"), "nonsense"]) {
    const stream = await forged.get(id);
    expect(numbersIn(stream)).toEqual([]);
    stream.cut();
  }
}

function numbersIn({ messages }: EventReply): unknown[] {
  return logDataOf(messages);
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
          const follower = await Follower.begin(nodes, start);
          for (const [what, node] of steps) await perform(what, follower, node);
          await follower.push(1, start);
          await until(async () => {
            if (!follower.isConnected) await follower.resume(start);
            return follower.numbers.length >= follower.sent;
          });
          await nextTurn();
          expect(follower.numbers).toEqual(Array.from({ length: follower.sent }, (_, at) => at + 1));
          cuts += follower.cuts;
          follower.cut();
          expect(await follower.at(start).delete()).toBe(204);
        },
      );
      await fc.assert(property, { seed: 20251125, numRuns: runs, endOnFailure: true });
      expect(cuts).toBeGreaterThan(runs);
    },
    60_000,
  );

  test.each(Object.keys(ways))(
    "twin streams and half-open ones, beside an attacker: nothing comes twice or is lost without notice: deliveries %s",
    async (way) => {
      const running = await startBackplane(row);
      onTestFinished(async () => void (await running.close()));
      const define = (server: McpServer): void => void server.tool("who", {}, () => "you");
      const nodes = await serveCluster({ backplane: running.backplane, define });
      ways[way]?.(nodes);
      const place = fc.nat(nodes.length - 1);
      let told = 0;
      const property = fc.asyncProperty(
        fc.array(fc.tuple(strangeStep, place, place), { minLength: 30, maxLength: 30 }),
        place,
        async (steps, start) => {
          const follower = await Follower.open(nodes, start);
          const attacker = await SessionClient.open(nodes[start] ?? nodes[0]);
          await follower.reopen(start);
          for (const [kind, node, other] of steps) {
            if (kind === "push") await follower.push(2, node);
            else if (kind === "attack") await attack(attacker, nodes[node] ?? nodes[0], follower);
            else if (kind === "move" && follower.isConnected) await follower.resume(node);
            else if (kind === "twins") await follower.reopen(node, other);
            else await follower.reopen(node);
          }
          // Numbers come in order, so that all that is to come has come after these.
          await follower.reopen(start);
          await follower.push(1, start);
          await until(() => follower.numbers.includes(follower.sent));
          const { numbers } = follower;
          const expected = Array.from({ length: follower.sent }, (_, at) => at + 1);
          const missing = expected.filter((number) => !numbers.includes(number));
          expect(numbers).toHaveLength(new Set(numbers).size);
          expect(missing.filter((number) => number > follower.toldUpTo)).toEqual([]);
          told += follower.toldUpTo;
          follower.close();
          expect(await follower.at(start).delete()).toBe(204);
        },
      );
      await fc.assert(property, { seed: 20261118, numRuns: runs, endOnFailure: true });
      expect(told).toBeGreaterThan(0);
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
          const follower = await Follower.begin(nodes, start);
          follower.cut();
          follower.received.length = 0;
          follower.follow(await follower.at(start).call("wait"));
          await until(() => follower.received.length > 0);
          for (const [at, [cut, node]] of moves.entries()) {
            if (at === endsAfter) ends.shift()?.();
            if (cut) follower.cut();
            if (follower.isAnswered) break;
            await follower.resume(node);
          }
          await until(async () => {
            const { isAnswered } = follower;
            if (!isAnswered && !follower.isConnected) await follower.resume(start);
            return isAnswered;
          });
          const answers = follower.received.filter(({ method }) => method === undefined);
          expect(answers).toMatchObject([{ result: { content: [{ text: "done" }] } }]);
          follower.cut();
          await follower.at(start).delete();
        },
      );
      await fc.assert(property, { seed: 20251125, numRuns: runs, endOnFailure: true });
    },
    60_000,
  );
});
