// Under random cuts by either side, every message of a session arrives once, in order, and nothing else does.
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import fc from "fast-check";
import { type JsonObject, McpServer } from "halyard";
import { nodeHandler } from "halyard/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventReply } from "../../support/event-reply.ts";
import { recordingLogger } from "../../support/log.ts";
import { SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
const handler = nodeHandler(server, { limits: { maxStreamBytes: 1024 * 1024 } });
const sockets = new Set<Socket>();
let http: Server;
let url: string;

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
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
});

afterAll(async () => {
  http.close();
  await handler.close();
  http.closeAllConnections();
});

/** A client that keeps every message it gets, and always comes back after the last event it has seen. */
class Follower {
  readonly client: SessionClient;
  readonly received: JsonObject[] = [];
  sent = 0;
  cuts = 0;
  stream: EventReply | undefined;
  lastEventId: string | undefined;

  constructor(client: SessionClient) {
    this.client = client;
  }

  get numbers(): unknown[] {
    return this.received
      .filter(({ method }) => method === "notifications/message")
      .map(({ params }) => (params as { data: unknown }).data);
  }

  follow(stream: EventReply): void {
    this.stream = stream;
    const take = ({ id, data }: { id?: string; data?: string }): void => {
      this.lastEventId = id ?? this.lastEventId;
      if (data) this.received.push(JSON.parse(data) as JsonObject);
    };
    for (const event of stream.events) take(event);
    stream.onEvent = take;
  }

  async push(count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      const data = ++this.sent;
      await server.push.toSession(this.client.id, "notifications/message", { level: "info", data });
    }
  }

  /** The client hangs up: what arrives from now on, it does not see. */
  cut(): void {
    if (this.stream === undefined) return;
    if (this.stream.end === undefined) this.cuts++;
    this.stream.onEvent = () => {};
    this.stream.cut();
    this.stream = undefined;
  }

  /** Comes back if the stream is gone; the server may cut it again at any moment. */
  async resume(): Promise<void> {
    if (this.stream !== undefined && this.stream.end === undefined) return;
    const reply = await this.client.get(this.lastEventId).catch(() => undefined);
    if (reply !== undefined) this.follow(reply);
  }
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
      return follower.resume();
    case "server cut":
      if (follower.stream !== undefined && follower.stream.end === undefined) follower.cuts++;
      for (const socket of sockets) socket.destroy();
      return;
    default:
      return new Promise((resolve) => setImmediate(resolve));
  }
}

async function begin(): Promise<Follower> {
  const follower = new Follower(await SessionClient.open({ url }));
  follower.follow(await follower.client.get());
  await until(() => follower.lastEventId !== undefined);
  return follower;
}

let cutsInAll = 0;

test("a session gets every push exactly once and in order, however often its stream is cut", async () => {
  const property = fc.asyncProperty(
    fc.array(fc.tuple(step, fc.boolean()), { minLength: 120, maxLength: 120 }),
    async (steps) => {
      const [one, two] = [await begin(), await begin()];
      for (const [what, first] of steps) await perform(what, first ? one : two);
      for (const follower of [one, two]) {
        await follower.push(1);
        await until(async () => {
          await follower.resume();
          return follower.numbers.length >= follower.sent;
        });
        // Anything that came twice would have come by now.
        await new Promise((resolve) => setImmediate(resolve));
        expect(follower.numbers).toEqual(Array.from({ length: follower.sent }, (_, at) => at + 1));
        cutsInAll += follower.cuts;
        follower.cut();
        await follower.client.delete();
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
      const follower = new Follower(await SessionClient.open({ url }));
      const noise = await follower.client.get();
      follower.follow(await follower.client.call("count", { to: 60 }));
      await until(() => follower.lastEventId !== undefined);
      for (const cut of cuts) {
        if (cut) follower.cut();
        await follower.push(1);
        await follower.resume();
      }
      await until(async () => {
        const isAnswered = follower.received.some(({ result }) => result !== undefined);
        if (!isAnswered) await follower.resume();
        return isAnswered;
      });
      expect(follower.numbers).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
      expect(follower.received.filter(({ method }) => method === undefined)).toHaveLength(1);
      expect(follower.received.at(-1)).toMatchObject({ result: { content: [{ text: "done" }] } });
      noise.cut();
      await follower.client.delete();
    },
  );
  await fc.assert(property, { seed: 20251125, numRuns: 10, endOnFailure: true });
}, 30_000);
