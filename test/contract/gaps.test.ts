// A client that may have missed messages is notified once to read everything again.
import type { McpServer } from "halyard";
import { expect, test } from "vitest";
import { logDataOf, methodsOf, sessionDates, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { contract, got, placeOn, primed, pushTo } from "./columns.ts";

const uri = "note:///a";
const everything = ["tools/list_changed", "resources/list_changed", `resources/updated ${uri}`];

function define(server: McpServer): void {
  server.tool("first", {}, () => "first");
  server.tool("log", {}, (_, ctx) => {
    ctx.log("info", "x".repeat(500));
    return "done";
  });
  server.resource(uri, {}, () => "a");
}

/** The messages for two changes, in any order, and for a push. */
const changed = ["message", `resources/updated ${uri}`, "tools/list_changed"];

contract("changes while the client is away", (column) => {
  test.each(sessionDates)("are told once on a resume, and not again · %s", async (revision) => {
    const { client, push, server } = await placeOn(column, { define, client: { revision } });
    await client.request("resources/subscribe", { uri });
    const stream = await client.get();
    await push(1);
    await got(stream, 1);
    await stream.vanish();
    for (const name of ["second", "third"]) server.tool(name, {}, () => name);
    for (let at = 0; at < 3; at++) await server.resources.updated(uri);
    const resumed = await client.get(stream.lastEventId);
    await push(2);
    await got(resumed, 2);
    expect(methodsOf(resumed.messages).toSorted()).toEqual(changed);
    expect(methodsOf(resumed.messages).at(-1)).toBe("message");
    await resumed.vanish();
    const again = await client.get(resumed.lastEventId);
    await push(3);
    await got(again, 3);
    expect(methodsOf(again.messages)).toEqual(["message"]);
  });

  test.each(sessionDates)("are told once on the first GET, before what was pushed · %s", async (revision) => {
    const { client, push, server } = await placeOn(column, { define, client: { revision } });
    await client.request("resources/subscribe", { uri });
    await push(1);
    for (const name of ["second", "third"]) server.tool(name, {}, () => name);
    for (let at = 0; at < 3; at++) await server.resources.updated(uri);
    const stream = await client.get();
    await got(stream, 1);
    expect(methodsOf(stream.messages).toSorted()).toEqual(changed);
    expect(methodsOf(stream.messages).at(-1)).toBe("message");
  });

  test("are told on the stream that takes over", async () => {
    const { client, push, server } = await placeOn(column, { define });
    await client.request("resources/subscribe", { uri });
    const [backup, newest] = [await client.get(), await client.get()];
    await push(1);
    await got(newest, 1);
    await newest.vanish();
    await server.resources.updated(uri);
    await push(2);
    await got(backup, 2);
    expect(methodsOf(backup.messages).toSorted()).toEqual(["message", `resources/updated ${uri}`]);
  });
});

contract("a log that no longer has what a client has missed", (column) => {
  test("because it is full: GET says what to read again and then what waited, and POST is 400 [RESUME-REPLAY]", async () => {
    const http = { limits: { maxStreamBytes: 3000 } };
    const { client, push } = await placeOn(column, { define, http });
    await client.request("resources/subscribe", { uri });
    const call = await client.call("log");
    await call.closed;
    const stream = await primed(client.get());
    const beginning = stream.lastEventId;
    await push(...Array.from({ length: 40 }, (_, at) => at));
    await until(() => logDataOf(stream.messages).includes(39));
    await stream.vanish();
    await push(40);
    const [first] = call.events.flatMap(({ id }) => id ?? []);
    expect((await client.get(first)).status).toBe(400);
    const fresh = await client.get(beginning);
    await got(fresh, 40);
    expect(methodsOf(fresh.messages)).toEqual([...everything, "message"]);
  });

  test("because all logs together were full: the one used least recently is cleared, and the other is exact", async () => {
    const http = { limits: { maxTotalBytes: 20_000 } };
    const { client, push, server, served } = await placeOn(column, { define, http });
    await client.request("resources/subscribe", { uri });
    const call = await client.call("log");
    await call.closed;
    const stream = await client.get();
    await push(1, 2);
    await got(stream, 1, 2);
    const one = stream.events.find(({ data }) => data)?.id;
    await stream.vanish();
    const large = { level: "info", data: "x".repeat(9000) };
    const other = await SessionClient.open(served);
    const theirs = await primed(other.get());
    for (const { id } of [client, other]) {
      expect(await server.push.toSession(id, "notifications/message", large)).toBe(true);
    }
    await pushTo({ server, client: other }, 1);
    await theirs.vanish();
    expect(await server.push.toSession(other.id, "notifications/message", large)).toBe(true);
    const [first] = call.events.flatMap(({ id }) => id ?? []);
    await until(async () => (await client.get(first)).status === 400);
    const fresh = await client.get(one);
    await push(3);
    await got(fresh, 3);
    expect(methodsOf(fresh.messages)).toEqual([...everything, "message"]);
    const resumed = await other.get(theirs.lastEventId);
    await until(() => logDataOf(resumed.messages).length > 0);
    expect(methodsOf(resumed.messages)).not.toContain("tools/list_changed");
  });
});

contract("a GET without an id", (column) => {
  test("after a stream that carried messages says what to read again, and replays nothing [RESUME-NO-CROSS-STREAM]", async () => {
    const { client, push } = await placeOn(column, { define });
    await client.request("resources/subscribe", { uri });
    const first = await client.get();
    await push(1);
    await got(first, 1);
    await first.vanish();
    await push(2);
    const second = await client.get();
    await got(second, 2);
    expect(methodsOf(second.messages)).toEqual([...everything, "message"]);
  });

  test("after one that the client has shown to have whole, or that carried nothing, says nothing", async () => {
    const { client, push } = await placeOn(column, { define });
    await (await client.get()).vanish();
    const first = await client.get();
    await push(1);
    await got(first, 1);
    await first.vanish();
    await (await client.get(first.lastEventId)).vanish();
    const second = await client.get();
    await push(2);
    await got(second, 2);
    expect(methodsOf([...first.messages, ...second.messages])).toEqual(["message", "message"]);
  });
});
