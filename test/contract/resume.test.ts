// What a resume replays: exactly what the client has missed on that stream, or nothing of a stream that is not its own.
import type { McpServer } from "halyard";
import { expect, test } from "vitest";
import { logDataOf, sessionDates, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { contract, got, placeOn, primed, pushTo } from "./columns.ts";

/** A tool that says 1, waits, and says 2. */
function heldTool(): { define: (server: McpServer) => void; release: () => void } {
  const gate = deferred();
  const define = (server: McpServer): void => {
    server.tool("held", {}, async (_, ctx) => {
      ctx.log("info", 1);
      await gate.promise;
      ctx.log("info", 2);
      return "done";
    });
    server.tool("quick", {}, (_, ctx) => {
      ctx.log("info", "quick");
      return "quick";
    });
  };
  return { define, release: gate.resolve };
}

const done = { id: "call", result: { content: [{ text: "done" }] } };

contract("resume of a GET stream", (column) => {
  test.each(sessionDates)(
    "replays what follows each event, in order and once · %s [RESUME-EVENT-ID, RESUME-ALWAYS-GET, RESUME-REPLAY]",
    async (revision) => {
      const { client, push } = await placeOn(column, { client: { revision } });
      const first = await client.get();
      await push(1, 2, 3);
      await got(first, 1, 2, 3);
      await first.vanish();
      await push(4, 5);
      const ids = first.events.filter(({ data }) => data).map(({ id }) => id);
      const rest = [2, 3, 4, 5];
      for (const [at, id] of ids.entries()) {
        const resumed = await client.get(id);
        await got(resumed, ...rest.slice(at));
        await resumed.vanish();
      }
      const last = await client.get(ids[0]);
      await push(6);
      await got(last, ...rest, 6);
    },
  );

  test.each(sessionDates)(
    "needs ids that are unique over all streams of the session, and name their stream · %s [RESUME-EVENT-ID-UNIQUE, RESUME-EVENT-ID-STREAM]",
    async (revision) => {
      const { define, release } = heldTool();
      release();
      const { client, push } = await placeOn(column, { define, client: { revision } });
      const [one, two] = [await client.get(), await client.get()];
      await push(1, 2, 3);
      await got(two, 1, 2, 3);
      const calls = [await client.call("held"), await client.call("held")];
      for (const call of calls) await call.closed;
      const streams = [one, two, ...calls].map(({ events }) => events.flatMap(({ id }) => id ?? []));
      expect(new Set(streams.flat()).size).toBe(streams.flat().length);
      const names = streams.map((ids) => new Set(ids.map((id) => id.split(".")[0])));
      for (const { size } of names) expect(size).toBeLessThanOrEqual(1);
      const used = new Set(streams.flat().map((id) => id.split(".")[0]));
      expect(used.size).toBe(names.filter(({ size }) => size === 1).length);
    },
  );

  test("begins with the id that the client came with [RESUME-PRIMING]", async () => {
    const { client, push } = await placeOn(column, { http: { retryMs: 321 } });
    const first = await client.get();
    await push(1, 2);
    await got(first, 1, 2);
    const one = first.events.find(({ data }) => data)?.id;
    await first.vanish();
    const resumed = await client.get(one);
    await got(resumed, 2);
    expect(resumed.events[0]).toEqual({ id: one, data: "", retry: "321" });
  });

  test("from its first event brings everything, and from its last one nothing", async () => {
    const { client, push } = await placeOn(column);
    const first = await primed(client.get());
    const beginning = first.lastEventId;
    await push(1);
    await got(first, 1);
    await first.vanish();
    const again = await client.get(beginning);
    await got(again, 1);
    await again.vanish();
    const last = await client.get(again.lastEventId);
    await push(2);
    await got(last, 2);
  });

  test("while its old connection is open ends that one", async () => {
    const { client, push } = await placeOn(column);
    const old = await client.get();
    await push(1);
    await got(old, 1);
    const resumed = await client.get(old.lastEventId);
    await old.closed;
    await push(2);
    await got(resumed, 2);
    expect(old.end).toBe("complete");
  });
});

contract("resume of a POST stream", (column) => {
  test.each(sessionDates)(
    "brings the response of a call that ended meanwhile, and nothing of another stream · %s [RESUME-ALWAYS-GET, RESUME-REPLAY, RESUME-NO-CROSS-STREAM]",
    async (revision) => {
      const { define, release } = heldTool();
      const { client, push, served } = await placeOn(column, { define, client: { revision } });
      const other = await client.get();
      const call = await primed(client.start("tools/call", { name: "held" }, "call"));
      await until(() => logDataOf(call.messages).includes(1));
      const { lastEventId } = call;
      await call.vanish();
      // One ends before the call that is resumed, the other with it.
      const beside = await client.start("tools/call", { name: "held" }, "beside");
      const quick = await client.start("tools/call", { name: "quick" }, "quick");
      await quick.closed;
      await push(7);
      await got(other, 7);
      release();
      await beside.closed;
      await until(() => served.stats().inFlight === 0);
      for (let round = 0; round < 2; round++) {
        const resumed = await client.get(lastEventId);
        await resumed.closed;
        expect(resumed.end).toBe("complete");
        expect(resumed.messages.at(-1)).toMatchObject(done);
        expect(resumed.messages.filter(({ id }) => id !== undefined)).toHaveLength(1);
        expect(logDataOf(resumed.messages)).toEqual(column.replaysLogs ? [2] : []);
      }
    },
  );

  test.each(sessionDates)("continues a call that still runs · %s [RESUME-ALWAYS-GET]", async (revision) => {
    const { define, release } = heldTool();
    const { client } = await placeOn(column, { define, client: { revision } });
    const call = await primed(client.start("tools/call", { name: "held" }, "call"));
    await until(() => logDataOf(call.messages).includes(1));
    await call.vanish();
    const resumed = await client.get(call.lastEventId);
    expect(resumed.status).toBe(200);
    release();
    await resumed.closed;
    expect(logDataOf(resumed.messages)).toEqual([2]);
    expect(resumed.messages.at(-1)).toMatchObject(done);
  });

  test("after its last event is refused: there is nothing more to come", async () => {
    const { define, release } = heldTool();
    const { client } = await placeOn(column, { define });
    release();
    const call = await client.start("tools/call", { name: "held" }, "call");
    await call.closed;
    expect((await client.get(call.lastEventId)).status).toBe(400);
  });
});

contract("an event id that is not the client's own", (column) => {
  const auth = (request: { header(name: string): string | undefined }) => ({
    issuer: "https://issuer.example",
    subject: request.header("x-user") ?? "nobody",
  });
  const [alice, bob] = [{ headers: { "x-user": "alice" } }, { headers: { "x-user": "bob" } }];

  test("of another session, of another principal or invented, is answered like an unknown one [RESUME-NO-CROSS-STREAM, SESS-BIND-USER]", async () => {
    const { define, release } = heldTool();
    const { client, push, server, served } = await placeOn(column, { define, http: { auth }, client: alice });
    const stream = await client.get();
    await push(1);
    await got(stream, 1);
    release();
    const call = await client.start("tools/call", { name: "held" }, "call");
    await call.closed;
    const [first] = call.events.flatMap(({ id }) => id ?? []);
    const unknown = { get: "g7.7-abc.7-abc", post: "p7.7-abc" };
    for (const who of [alice, bob]) {
      const thief = await SessionClient.open(served, who);
      const refused = [await thief.get(first), await thief.get(unknown.post)];
      expect(refused.map(({ status }) => status)).toEqual([400, 400]);
      const [theirs, invented] = await Promise.all(refused.map((reply) => reply.json()));
      expect(theirs).toEqual(invented);
      for (const id of [stream.lastEventId, unknown.get, "nonsense"]) {
        const fresh = await thief.get(id);
        await pushTo({ server, client: thief }, 9);
        await got(fresh, 9);
        fresh.cut();
      }
    }
    const intruder = new SessionClient(served.url, client.id, bob);
    for (const id of [stream.lastEventId, first, unknown.get, undefined]) {
      expect((await intruder.get(id)).status).toBe(404);
    }
    await push(2);
    await got(stream, 1, 2);
  });
});
