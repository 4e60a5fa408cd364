// Which GET stream of a session gets a message.
import { expect, test } from "vitest";
import type { EventReply } from "../support/event-reply.ts";
import { logDataOf, methodsOf, sessionDates } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { contract, got, placeOn, primed } from "./columns.ts";

contract("GET streams", (column) => {
  test.each(sessionDates)(
    "a push to a session without a stream waits, and comes once with the next GET · %s [HTTP-GET-MESSAGES]",
    async (revision) => {
      const { client, push } = await placeOn(column, { client: { revision } });
      await push(1, 2);
      const first = await client.get();
      await got(first, 1, 2);
      await push(3);
      await got(first, 1, 2, 3);
      const second = await client.get();
      await push(4);
      await got(second, 4);
    },
  );

  test.each(sessionDates)(
    "of two streams only the newest gets a message · %s [HTTP-MULTI-STREAMS, HTTP-MULTI-NO-BROADCAST]",
    async (revision) => {
      const { client, push, server } = await placeOn(column, { client: { revision } });
      const [older, newer] = [await client.get(), await client.get()];
      await push(1, 2);
      expect(await server.push.broadcast("notifications/message", { level: "info", data: 3 })).toBe(1);
      await push(4);
      await until(() => logDataOf(newer.messages).length === 4);
      expect(logDataOf(newer.messages).toSorted()).toEqual([1, 2, 3, 4]);
      expect(older.messages).toEqual([]);
    },
  );

  test("a stream that is resumed is the newest", async () => {
    const { client, push } = await placeOn(column);
    const first = await client.get();
    await push(1);
    await got(first, 1);
    await first.vanish();
    const other = await client.get();
    const resumed = await client.get(first.lastEventId);
    await push(2);
    await got(resumed, 2);
    expect(logDataOf(other.messages)).toEqual([]);
  });

  test("a stream takes over when a newer one closes, and nothing is lost", async () => {
    const { client, push } = await placeOn(column);
    const [oldest, older, newest] = [await client.get(), await client.get(), await client.get()];
    await push(1);
    await got(newest, 1);
    await newest.vanish();
    await push(2, 3);
    await got(older, 2, 3);
    await older.vanish();
    await push(4);
    await got(oldest, 4);
  });

  test("what was written to a connection that is cut comes when its stream is resumed, and the rest on another, each once", async () => {
    const { client, push } = await placeOn(column);
    const [older, newest] = [await client.get(), await client.get()];
    await push(1);
    await got(newest, 1);
    newest.cut();
    await push(2, 3, 4, 5, 6);
    await newest.released();
    await push(7);
    await until(() => logDataOf(older.messages).includes(7));
    const resumed = await client.get(newest.lastEventId);
    await push(8);
    await until(() => logDataOf(resumed.messages).includes(8));
    const arrived = [resumed, older].flatMap(({ messages }) => logDataOf(messages));
    expect(arrived.toSorted()).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });

  test.each(sessionDates)("one more than eight ends the oldest · %s", async (revision) => {
    const { client, push, served } = await placeOn(column, { client: { revision } });
    const streams: EventReply[] = [];
    while (streams.length < 9) streams.push(await client.get());
    const [oldest, second] = streams as [EventReply, EventReply];
    await oldest.closed;
    expect(oldest.end).toBe("complete");
    expect(served.stats().streams).toBe(8);
    await push(1);
    await got(streams.at(-1) as EventReply, 1);
    expect(streams.flatMap(({ messages }) => messages)).toHaveLength(1);
    expect(second.end).toBeUndefined();
  });

  test("one that ends so after it carried a message is a gap, told once on another", async () => {
    const { client, push } = await placeOn(column, {
      define: (server) => void server.tool("first", {}, () => "first"),
    });
    const others: EventReply[] = [];
    while (others.length < 7) others.push(await primed(client.get()));
    const carrier = await client.get();
    await push(1);
    await got(carrier, 1);
    // Those that carried nothing are resumed, so that the carrier is the oldest.
    for (const { lastEventId } of others.splice(0)) others.push(await client.get(lastEventId));
    const ninth = await client.get("nonsense");
    await carrier.closed;
    await push(2);
    await got(ninth, 2);
    expect(others.flatMap(({ messages }) => messages)).toEqual([]);
    expect(methodsOf(ninth.messages)).toEqual(["tools/list_changed", "message"]);
  });
});
