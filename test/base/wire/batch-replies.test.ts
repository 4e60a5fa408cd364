// The reply to a batch has a limit: results past it are dropped, calls that have not begun do not run, and each says which.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { type Answer, rawPeer } from "../../support/raw.ts";
import { serve, SessionClient } from "../../support/sessions.ts";
import { deferred, until } from "../../support/turns.ts";

const withBatches = "2025-03-26";
const large = 100_000;
const limits = { maxBatchReplyLength: 4.5 * large };

type Say = (batch: readonly object[]) => Promise<Answer[]>;

const doors: Readonly<Record<"HTTP" | "pipe", (server: McpServer) => Promise<Say>>> = {
  async HTTP(server) {
    const client = await SessionClient.open(await serve(server), { revision: withBatches });
    const json = { accept: "application/json" };
    return async (batch) => (await (await client.post(batch, json)).json()) as unknown as Answer[];
  },
  async pipe(server) {
    const peer = await rawPeer(server, withBatches);
    return async (batch) => (await peer.say<Answer[]>(batch)) ?? [];
  },
};

function makeServer(): { server: McpServer; ran: unknown[] } {
  const ran: unknown[] = [];
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits, logger: recordingLogger() });
  server.tool("sync", {}, (_, { id }) => (ran.push(id), "x".repeat(large)));
  server.tool("async", {}, async (_, { id }) => (ran.push(id), "x".repeat(large)));
  server.tool("later", {}, async (_, { id }) => {
    ran.push(id);
    await new Promise((resolve) => setTimeout(resolve, 1));
    return "x".repeat(large);
  });
  return { server, ran };
}

const callOf = (name: string, id: number): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name },
});

const ten = Array.from({ length: 10 }, (_, id) => id);

describe.each(["HTTP", "pipe"] as const)("a batch whose reply is too long · %s", (door) => {
  test.each(["sync", "async"])("runs no call past the limit, and says so · %s", async (name) => {
    const { server, ran } = makeServer();
    const answers = await (await doors[door](server))(ten.map((id) => callOf(name, id)));
    // The fifth result is the first that has no room.
    expect(ran).toEqual([0, 1, 2, 3, 4]);
    expect(answers.map(({ id }) => id)).toEqual(ten);
    expect(answers.slice(0, 4).every(({ result }) => result !== undefined)).toBe(true);
    expect(answers[4]?.error?.message).toMatch(/^The call ran, but its result was dropped/);
    for (const { error } of answers.slice(5)) expect(error?.message).toMatch(/did not run/);
  });

  test("drops results of calls that ran side by side, and says that they ran", async () => {
    const { server, ran } = makeServer();
    const answers = await (await doors[door](server))(ten.map((id) => callOf("later", id)));
    expect(ran).toEqual(ten);
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(4);
    const dropped = answers.flatMap(({ error }) => error?.message ?? []);
    expect(dropped).toHaveLength(6);
    for (const message of dropped) expect(message).toMatch(/^The call ran, but its result was dropped/);
    expect(JSON.stringify(answers).length).toBeLessThan(5 * large);
  });

  test("is answered in full by the next batch", async () => {
    const { server } = makeServer();
    const say = await doors[door](server);
    await say(ten.map((id) => callOf("sync", id)));
    const answers = await say([callOf("sync", 1), callOf("async", 2)]);
    expect(answers.map(({ result }) => result !== undefined)).toEqual([true, true]);
  });
});

test("a reply that is being built counts for its caller, and a bystander is answered", async () => {
  const options = { limits: { maxInFlightBytes: 10 * large }, logger: recordingLogger() };
  const server = new McpServer({ name: "test", version: "1.0.0" }, options);
  const gate = deferred();
  let done = 0;
  server.tool("large", {}, () => (done++, "x".repeat(large)));
  server.tool("wait", {}, async () => {
    await gate.promise;
    return "done";
  });
  const client = await SessionClient.open(await serve(server), { revision: withBatches });
  const batch = [callOf("wait", 0), ...[1, 2, 3, 4].map((id) => callOf("large", id))];
  const held = client.post(batch, { accept: "application/json" });
  await until(() => done === 4);
  // A character counts as two bytes, so these four results are more than one caller's half.
  expect((await client.post([callOf("large", 5)])).status).toBe(429);
  const bystander = await doors.pipe(server);
  const [pong] = await bystander([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
  expect(pong?.result).toEqual({});
  gate.resolve();
  expect(await (await held).json()).toHaveLength(5);
  expect((await client.post([callOf("large", 6)])).status).toBe(200);
});
