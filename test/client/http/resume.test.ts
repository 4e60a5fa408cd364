// Streams of legacy requests that break before the response: the client reads on where they broke, and reports nothing twice.
import { ConnectionLost } from "halyard/client";
import { describe, expect, test } from "vitest";
import {
  type Asked,
  event,
  failing,
  logged,
  newestModern,
  quick,
  responseTo,
  start,
} from "../../support/http-script.ts";
import { legacyDates } from "../../support/revisions.ts";

const last = ({ headers }: Asked): string | undefined => headers["last-event-id"] as string | undefined;

describe.each(legacyDates)("a stream of %s that breaks before the response", (revision) => {
  test("is resumed with GET after the last event, with the session [RESUME-CLIENT-GET, RESUME-ALWAYS-GET, RESUME-CLIENT-POLL, HTTP-GET-ACCEPT, SESS-ECHO]", async () => {
    const { server, client, logs } = await start({ revision });
    server.on("work", ({ stream, response }) => {
      stream()(event(logged(1), { id: "a-1" }), event(logged(2), { id: "a-2" }));
      response.end();
    });
    server.on("GET", async (asked) => {
      if (last(asked) === undefined) return asked.refuse(405);
      const work = await server.next("work");
      asked.stream()(event(logged(3), { id: "a-3" }), event(responseTo(work, { a: 1 }), { id: "a-4" }));
      asked.response.end();
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(logs).toEqual([1, 2, 3]);
    const resumed = server.of("GET").find((asked) => last(asked) !== undefined);
    expect(resumed?.headers).toMatchObject({
      accept: "text/event-stream",
      "last-event-id": "a-2",
      "mcp-session-id": "session-1",
    });
    expect(server.of("work")).toHaveLength(1);
  });

  test("is resumed from an event that has only an id, and not before the time that the server asks for [RESUME-EMPTY-DATA, RESUME-RETRY-RESPECT]", async () => {
    const { server, client, events } = await start({ revision });
    let endedAt = 0;
    server.on("work", ({ stream, response }) => {
      stream()(event("", { id: "p", retry: 150 }));
      response.end(() => (endedAt = performance.now()));
    });
    server.on("GET", async (asked) => {
      if (last(asked) === undefined) return asked.refuse(405);
      asked.stream()(event(responseTo(await server.next("work"), { a: 1 })));
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
    const resumed = server.of("GET").find((asked) => last(asked) === "p");
    expect((resumed as Asked).at - endedAt).toBeGreaterThanOrEqual(145);
    expect(events.filter(({ type }) => type === "ignored")).toEqual([]);
  });

  test("delivers an event that the server sends again only once", async () => {
    const { server, client, logs } = await start({ revision });
    const one = event(logged("one"), { id: "1" });
    const two = event(logged("two"), { id: "2" });
    server.on("work", ({ stream, socket, response }) => {
      stream();
      response.write(one + two, () => socket.destroy());
    });
    server.on("GET", async (asked) => {
      if (last(asked) === undefined) return asked.refuse(405);
      const write = asked.stream();
      if (last(asked) === "2") {
        write(one, two, event(logged("three"), { id: "3" }));
        return asked.response.end();
      }
      write(
        two,
        event(logged("three"), { id: "3" }),
        event(responseTo(await server.next("work"), { a: 1 }), { id: "4" }),
      );
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(logs).toEqual(["one", "two", "three"]);
  });

  test("is resumed again after a failure of the server or the network", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ stream, response }) => {
      stream()(event("", { id: "p" }));
      response.end();
    });
    const failures: ((asked: Asked) => void)[] = [
      ({ socket }) => socket.destroy(),
      ({ refuse }) => refuse(503),
      ({ refuse }) => refuse(500),
    ];
    server.on("GET", async (asked) => {
      if (last(asked) === undefined) return asked.refuse(405);
      const fail = failures.shift();
      if (fail) return fail(asked);
      asked.stream()(event(responseTo(await server.next("work"), { a: 1 })));
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
  });

  test("is given up after so many attempts without a message", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ stream, response }) => {
      stream()(event("", { id: "p" }));
      response.end();
    });
    server.on("GET", (asked) => {
      if (last(asked) === undefined) return asked.refuse(405);
      asked.stream()(": nothing new\n\n", event("", { id: "q" }));
      asked.response.end();
    });
    const error = await failing(client.request("work"));
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(server.of("GET").filter((asked) => last(asked) !== undefined)).toHaveLength(quick.maxAttempts);
  });

  test.each([400, 404, 405])(
    "is lost if the server refuses to resume it with %i: the request may have run",
    async (status) => {
      const { server, client } = await start({ revision });
      server.on("work", ({ stream, response }) => {
        stream()(event("", { id: "p" }));
        response.end();
      });
      server.on("GET", ({ refuse, headers }) =>
        refuse(headers["last-event-id"] === undefined ? 405 : status),
      );
      const error = await failing(client.request("work"));
      expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
      expect(server.of("work")).toHaveLength(1);
    },
  );

  test("is lost if it had no event with an id", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ stream, response }) => {
      stream()(event(logged(1)));
      response.end();
    });
    expect(await failing(client.request("work"))).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(server.of("GET").filter((asked) => last(asked) !== undefined)).toEqual([]);
  });

  test("is resumed no longer once the caller gives up", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ stream, response }) => {
      stream()(event("", { id: "p", retry: 100_000 }));
      response.end();
    });
    const abort = new AbortController();
    const working = client.request("work", {}, { signal: abort.signal });
    await server.next("work");
    abort.abort("enough");
    expect(await failing(working)).toBe("enough");
    await server.next("notifications/cancelled");
  });
});

test("a modern stream is never resumed, whatever ids its events have [HTTP26-NO-RESUME]", async () => {
  const { server, client } = await start({ revision: newestModern });
  server.on("work", ({ stream, response }) => {
    stream()(event(logged(1), { id: "1", retry: 1 }));
    response.end();
  });
  expect(await failing(client.request("work"))).toMatchObject({ reason: "cut", mayHaveRun: true });
  expect(server.of("GET")).toEqual([]);
});
