// A stream that passes from one connection to the next: what is said in between, and an old connection that closes late.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { type Edge, logDataOf, serve, sessionCells, SessionClient } from "../../../support/sessions.ts";
import { deferred } from "../../../support/turns.ts";

const note = "notifications/message";

interface Setup {
  readonly server: McpServer;
  readonly client: SessionClient;
  push(data: number): Promise<void>;
}

async function setup({ edge, revision }: { edge: Edge; revision: string }): Promise<Setup> {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const client = await SessionClient.open(await serve(server, {}, edge), { revision });
  const push = async (data: number): Promise<void> => {
    expect(await server.push.toSession(client.id, note, { level: "info", data })).toBe(true);
  };
  return { server, client, push };
}

describe.each(sessionCells)("hand-over · $revision · $edge", (cell) => {
  test("a call that says something while its client is away says it when the client is back [RESUME-REPLAY]", async () => {
    const { client, server } = await setup(cell);
    const [away, said, ending] = [deferred(), deferred(), deferred()];
    server.tool("slow", {}, async (_, ctx) => {
      ctx.log("info", 1);
      await away.promise;
      ctx.log("info", 2);
      said.resolve();
      await ending.promise;
      ctx.log("info", 3);
      return "done";
    });
    const stream = await client.start("tools/call", { name: "slow" }, 7);
    await stream.message(() => logDataOf(stream.messages).length === 1);
    await stream.vanish();
    away.resolve();
    await said.promise;
    const resumed = await client.get(stream.lastEventId);
    await resumed.message(() => logDataOf(resumed.messages).length === 1);
    ending.resolve();
    await resumed.closed;
    expect(logDataOf(resumed.messages)).toEqual([2, 3]);
    expect(resumed.messages.at(-1)).toMatchObject({ id: 7, result: {} });
  });

  test("a GET stream that is resumed while its old connection is open goes on after that has closed", async () => {
    const { client, server, push } = await setup(cell);
    const first = await client.get();
    await push(1);
    await first.message(() => logDataOf(first.messages).length === 1);
    const second = await client.get(first.lastEventId);
    await first.released();
    expect(first.end).toBe("complete");
    expect(await server.push.sessions()).toEqual([client.id]);
    await push(2);
    await second.message(() => logDataOf(second.messages).length === 1);
    expect(logDataOf(second.messages)).toEqual([2]);
  });

  test("a call that is resumed while its old connection is open goes on after that has closed", async () => {
    const { client, server } = await setup(cell);
    const gate = deferred();
    server.tool("slow", {}, async (_, ctx) => {
      ctx.log("info", 1);
      await gate.promise;
      ctx.log("info", 2);
      return "done";
    });
    const first = await client.start("tools/call", { name: "slow" }, 7);
    await first.message(() => logDataOf(first.messages).length === 1);
    const second = await client.get(first.lastEventId);
    await first.released();
    gate.resolve();
    await second.closed;
    expect(logDataOf(second.messages)).toEqual([2]);
    expect(second.messages.at(-1)).toMatchObject({ id: 7, result: {} });
  });
});
