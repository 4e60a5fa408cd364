// Under random cuts by either side, every message of a session arrives once, in order, and nothing else does.
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import fc from "fast-check";
import { McpServer } from "halyard";
import { nodeHandler } from "halyard/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Follower } from "../../../support/follower.ts";
import { recordingLogger } from "../../../support/log.ts";
import { until } from "../../../support/turns.ts";

const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
const handler = nodeHandler(server, { limits: { maxStreamBytes: 1024 * 1024 } });
const sockets = new Set<Socket>();
let http: Server;
let place: { readonly url: string; readonly server: McpServer };

server.tool("count", { input: { type: "object" } }, async (args, ctx) => {
  const { to } = args as { to: number };
  for (let data = 1; data <= to; data++) {
    ctx.log("info", data);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return "done";
});

beforeAll(async () => {
  http = createServer((request, response) => void handler(request, response));
  http.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  place = { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, server };
});

afterAll(async () => {
  http.close();
  await handler.close();
  http.closeAllConnections();
});

/** Comes back if the stream is gone; the server may cut it again at any moment. */
async function comeBack(follower: Follower): Promise<void> {
  if (!follower.isConnected) await follower.resume().catch(() => {});
}

type Step =
  | { readonly kind: "push"; readonly count: number }
  | { readonly kind: "cut" | "resume" | "turn" | "server cut" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("push" as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 6, arbitrary: fc.constant<Step>({ kind: "resume" }) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "cut" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "server cut" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "turn" }) },
);

async function perform({ kind, ...rest }: Step, follower: Follower): Promise<void> {
  switch (kind) {
    case "push":
      return follower.push((rest as { count: number }).count);
    case "cut":
      return follower.cut();
    case "resume":
      return comeBack(follower);
    case "server cut":
      if (follower.isConnected) follower.cuts++;
      for (const socket of sockets) socket.destroy();
      return;
    default:
      return new Promise((resolve) => setImmediate(resolve));
  }
}

let cutsInAll = 0;

test("a session gets every push exactly once and in order, however often its stream is cut", async () => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(step, fc.boolean()), { minLength: 120, maxLength: 120 }),
    async (steps) => {
      const [one, two] = [await Follower.begin([place]), await Follower.begin([place])];
      for (const [what, first] of steps) await perform(what, first ? one : two);
      for (const follower of [one, two]) {
        await follower.push(1);
        await until(async () => {
          await comeBack(follower);
          return follower.numbers.length >= follower.sent;
        });
        // A second copy would have arrived by now.
        await new Promise((resolve) => setImmediate(resolve));
        expect(follower.numbers).toEqual(Array.from({ length: follower.sent }, (_, at) => at + 1));
        cutsInAll += follower.cuts;
        follower.cut();
        await follower.at().delete();
      }
    },
  );
  await fc.assert(property, { seed: 20251125, numRuns: 40, endOnFailure: true });
  expect(cutsInAll).toBeGreaterThanOrEqual(500);
}, 30_000);

test("a call's stream carries its own messages and its answer exactly once, however often it is cut", async () => {
  const property = fc.asyncProperty(
    fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
    async (cuts) => {
      const follower = await Follower.open([place]);
      const noise = await follower.at().get();
      follower.follow(await follower.at().call("count", { to: 60 }));
      await follower.hasBegun();
      for (const cut of cuts) {
        if (cut) follower.cut();
        await follower.push(1);
        await comeBack(follower);
      }
      await until(async () => {
        const { isAnswered } = follower;
        if (!isAnswered) await comeBack(follower);
        return isAnswered;
      });
      expect(follower.numbers).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
      expect(follower.received.filter(({ method }) => method === undefined)).toHaveLength(1);
      expect(follower.received.at(-1)).toMatchObject({ result: { content: [{ text: "done" }] } });
      noise.cut();
      await follower.at().delete();
    },
  );
  await fc.assert(property, { seed: 20251125, numRuns: 10, endOnFailure: true });
}, 30_000);
