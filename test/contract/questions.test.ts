// Questions whose stream is lost: asked again when the client is back, and failed when it does not come in time.
import type { JsonObject, McpServer } from "halyard";
import { expect, test } from "vitest";
import { sessionDates } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { contract, got, placeOn, primed } from "./columns.ts";

const isQuestion = ({ method }: JsonObject): boolean => method === "roots/list";
const roots = { roots: [{ uri: "file:///a" }] };
const lost = "roots/list: The client can no longer be reached";
const options = { timeoutMs: 300_000 };
const capabilities = { roots: {} };

function define(server: McpServer): void {
  server.tool("ask", {}, async (_, ctx) => {
    const answer = await ctx.ask("roots/list", {}, options).catch((error: Error) => error.message);
    return JSON.stringify(answer);
  });
}

contract("a question", (column) => {
  test.each(sessionDates)(
    "of a call is asked again when its stream is resumed, and its answer counts · %s [RESUME-REPLAY]",
    async (revision) => {
      const { client, server } = await placeOn(column, { define, client: { revision, capabilities } });
      const call = await client.start("tools/call", { name: "ask" }, "call");
      const question = await call.message(isQuestion);
      const [first] = call.events.flatMap(({ id }) => id ?? []);
      await call.vanish();
      const resumed = await client.get(first);
      // Before 2025-11-25 no event comes before the question, so that the first id is that of a client that has it.
      if (call.events[0]?.data === "") expect(await resumed.message(isQuestion)).toEqual(question);
      expect(await server.push.pendingAsks()).toBe(1);
      expect(await client.answer(question, { result: roots })).toBe(202);
      await resumed.closed;
      expect(resumed.messages.at(-1)).toMatchObject({
        id: "call",
        result: { content: [{ text: JSON.stringify(roots) }] },
      });
      expect(await server.push.pendingAsks()).toBe(0);
    },
  );

  test.each(sessionDates)("to a session is asked again on the next GET · %s", async (revision) => {
    const { client, push, server } = await placeOn(column, { client: { revision, capabilities } });
    const stream = await client.get();
    await push(1);
    await got(stream, 1);
    const before = stream.lastEventId;
    const asked = server.push.request(client.id, "roots/list", undefined, options);
    const question = await stream.message(isQuestion);
    await stream.vanish();
    const resumed = await client.get(before);
    expect(await resumed.message(isQuestion)).toEqual(question);
    expect(await client.answer(question, { result: roots })).toBe(202);
    expect(await asked).toEqual(roots);
  });

  test("goes to the stream of its call, and is asked once [HTTP-SSE-RELATED]", async () => {
    const { client, push } = await placeOn(column, { define, client: { capabilities } });
    const other = await client.get();
    const call = await client.start("tools/call", { name: "ask" }, "call");
    const question = await call.message(isQuestion);
    await client.answer(question, { result: roots });
    await call.closed;
    await push(1);
    await got(other, 1);
    expect(other.messages.filter(isQuestion)).toEqual([]);
    expect(call.messages.filter(isQuestion)).toHaveLength(1);
  });

  test("of a call fails when the client does not come back in time, and the call continues", async () => {
    const http = { resumeWindowMs: 1 };
    const { client, server } = await placeOn(column, { define, http, client: { capabilities } });
    const call = await client.start("tools/call", { name: "ask" }, "call");
    await call.message(isQuestion);
    await call.vanish();
    await until(async () => (await server.push.pendingAsks()) === 0);
    const resumed = await client.get(call.lastEventId);
    await resumed.closed;
    expect(resumed.messages.at(-1)).toMatchObject({
      id: "call",
      result: { content: [{ text: JSON.stringify(lost) }] },
    });
  });

  test("to a session fails when the client does not come back in time", async () => {
    const http = { resumeWindowMs: 1 };
    const { client, server } = await placeOn(column, { http, client: { capabilities } });
    const stream = await primed(client.get());
    const asked = server.push.request(client.id, "roots/list", undefined, options);
    const failed = expect(asked).rejects.toMatchObject({ code: "ASK_FAILED", message: lost });
    await stream.message(isQuestion);
    await stream.vanish();
    await failed;
  });

  test("to a session does not fail while another of its streams is open, which gets it", async () => {
    const http = { resumeWindowMs: 1 };
    const { client, server } = await placeOn(column, { http, client: { capabilities } });
    const [older, newer] = [await client.get(), await primed(client.get())];
    await newer.vanish();
    const asked = server.push.request(client.id, "roots/list", undefined, options);
    const question = await older.message(isQuestion);
    expect(await client.answer(question, { result: roots })).toBe(202);
    expect(await asked).toEqual(roots);
  });

  test("to a session without a stream waits for one, or is refused by a process alone", async () => {
    const { client, server } = await placeOn(column, { client: { capabilities } });
    const asked = server.push.request(client.id, "roots/list", undefined, options);
    if (column.asksOpenStreamsOnly) return expect(asked).rejects.toMatchObject({ code: "ASK_FAILED" });
    await until(async () => (await server.push.pendingAsks()) === 1);
    const stream = await client.get();
    const question = await stream.message(isQuestion);
    expect(await client.answer(question, { result: roots })).toBe(202);
    expect(await asked).toEqual(roots);
  });

  test("fails when its session ends", async () => {
    const { client, server } = await placeOn(column, { client: { capabilities } });
    const stream = await client.get();
    const asked = server.push.request(client.id, "roots/list", undefined, options);
    const failed = expect(asked).rejects.toMatchObject({ code: "ASK_FAILED", message: lost });
    await stream.message(isQuestion);
    expect(await client.delete()).toBe(204);
    await failed;
  });
});
