// The stream of a session on which messages outside requests arrive: opened, resumed, given up, and left alone where there is none.
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type Asked,
  event,
  failing,
  logged,
  newestModern,
  quick,
  start,
  type Started,
} from "../../support/http-script.ts";
import { holdClocks } from "../../support/clock.ts";
import { legacyDates } from "../../support/revisions.ts";
import { nextTurn, until } from "../../support/turns.ts";

afterEach(() => void vi.useRealTimers());

const last = ({ headers }: Asked): unknown => headers["last-event-id"];

/** What `observe` heard of the stream. */
function statesOf({ events }: Started): string[] {
  return events.flatMap((seen) => (seen.type === "stream" && seen.stream === "get" ? [seen.state] : []));
}

describe.each(legacyDates)("the GET stream of %s", (revision) => {
  test("opens after notifications/initialized, and delivers messages [HTTP-GET-OPEN, HTTP-GET-ACCEPT, SESS-ECHO]", async () => {
    const started = await start({ revision }, (script) =>
      script.on("GET", ({ stream }) => stream()(event(logged("hello"), { id: "1" }))),
    );
    const { server, logs } = started;
    await until(() => logs.length === 1);
    expect(logs).toEqual(["hello"]);
    const order = server.asked.map(({ method, message }) => message.method ?? method);
    expect(order.indexOf("GET")).toBeGreaterThan(order.indexOf("notifications/initialized"));
    expect(server.of("GET")[0]?.headers).toMatchObject({
      accept: "text/event-stream",
      "mcp-session-id": "session-1",
    });
    expect(statesOf(started)).toEqual(["opened"]);
  });

  test.each([405, 404, 400, 501])("is not asked for again after %i, and calls continue", async (status) => {
    const started = await start({ revision }, (script) => script.on("GET", ({ refuse }) => refuse(status)));
    const { server, client } = started;
    server.on("work", ({ result }) => result({ a: 1 }));
    await until(() => statesOf(started).length > 0);
    expect(statesOf(started)).toEqual(["given-up"]);
    for (let call = 0; call < 5; call++) expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(server.of("GET")).toHaveLength(1);
    expect(server.sessions).toEqual(["session-1"]);
  });

  test("resumes after the last event, and reports nothing twice [HTTP-GET-CLOSE, RESUME-CLIENT-GET, RESUME-RETRY-RESPECT]", async () => {
    const started = await start({ revision }, (script) =>
      script.on("GET", (asked) => {
        const write = asked.stream();
        if (last(asked) === undefined) {
          write(event(logged(1), { id: "a", retry: 20 }), event(logged(2), { id: "b" }));
          asked.response.end();
        } else if (last(asked) === "b") write(event(logged(2), { id: "b" }), event(logged(3), { id: "c" }));
      }),
    );
    await until(() => started.logs.length === 3);
    const [first, second] = started.server.of("GET");
    expect(started.logs).toEqual([1, 2, 3]);
    expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(19);
    expect(statesOf(started)).toEqual(["opened", "lost", "resumed"]);
  });

  test("that the server closes at once is given up after so many attempts, and calls continue", async () => {
    const started = await start({ revision }, (script) =>
      script.on("GET", ({ stream, response }) => {
        stream()(": hello\n\n", event("", { id: "1" }));
        response.end();
      }),
    );
    const { server, client } = started;
    await until(() => statesOf(started).includes("given-up"));
    expect(server.of("GET")).toHaveLength(1 + quick.maxAttempts);
    server.on("work", ({ result }) => result({ a: 1 }));
    expect(await client.request("work")).toMatchObject({ a: 1 });
  });

  test("that was given up is tried again when the server answers something, later", async () => {
    const started = await start({ revision }, (script) =>
      script.on("GET", (asked) => {
        if (script.of("GET").length <= 1 + quick.maxAttempts) asked.refuse(503);
        else asked.stream()(event(logged("back")));
      }),
    );
    const { server, client, logs } = started;
    server.on("work", ({ result }) => result());
    await until(() => statesOf(started).includes("given-up"));
    await until(async () => {
      await client.request("work");
      return logs.length === 1;
    });
    expect(logs).toEqual(["back"]);
  });

  test("whose resume the server refuses begins anew [HTTP-GET-CLOSE]", async () => {
    const started = await start({ revision }, (script) =>
      script.on("GET", (asked) => {
        if (last(asked) !== undefined) return asked.refuse(400);
        const write = asked.stream();
        if (script.of("GET").length > 1) return write(event(logged("anew")));
        write(event(logged("first"), { id: "old" }));
        asked.response.end();
      }),
    );
    await until(() => started.logs.length === 2);
    expect(started.logs).toEqual(["first", "anew"]);
    expect(started.server.of("GET").map(last)).toEqual([undefined, "old", undefined]);
  });

  test("that meets 404 after it was open means that the session is gone [SESS-404-REINIT]", async () => {
    const { server, logs } = await start({ revision }, (script) =>
      script.on("GET", ({ headers, refuse, stream, response }) => {
        if (headers["mcp-session-id"] === "session-2") return stream()(event(logged("new session")));
        if (headers["last-event-id"] !== undefined) return refuse(404);
        stream()(event(logged("old session"), { id: "1" }));
        response.end();
      }),
    );
    await until(() => logs.length === 2);
    expect(logs).toEqual(["old session", "new session"]);
    expect(server.sessions).toEqual(["session-1", "session-2"]);
  });

  test("that was given up is not tried again while the client closes", async () => {
    const started = await start({ revision }, (script) => script.on("GET", ({ refuse }) => refuse(503)));
    const { server, client } = started;
    await until(() => statesOf(started).includes("given-up"));
    const tried = server.of("GET").length;
    const givenUpAt = Date.now();
    server.on("work", () => {});
    const call = failing(client.request("work"));
    await server.next("work");
    await until(() => Date.now() - givenUpAt > quick.maxMs);
    await client.close();
    expect(await call).toMatchObject({ reason: "closed" });
    await until(() => server.sockets.size === 0);
    expect(server.of("GET")).toHaveLength(tried);
  });

  test("ends with the client", async () => {
    const { server, client } = await start({ revision }, (script) =>
      script.on("GET", ({ stream }) => void stream()),
    );
    const { response } = await server.next("GET");
    await client.close();
    await until(() => response.destroyed && server.sockets.size === 0);
  });
});

describe("a GET stream that is silent", () => {
  /** A stream that is open, and its clock. */
  async function silent(...written: string[]): Promise<Started> {
    holdClocks("setTimeout", "clearTimeout");
    const started = await start({ revision: legacyDates[0] as string, connectTimeoutMs: 1e9 }, (script) =>
      script.on("GET", ({ stream }) => stream()(...written, event(logged(script.of("GET").length)))),
    );
    while (started.logs.length < 1) await nextTurn();
    return started;
  }

  /** Lets so many seconds pass, a few at a time. */
  async function pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 5) {
      vi.advanceTimersByTime(5000);
      await nextTurn();
    }
  }

  async function reopened({ server }: Started): Promise<void> {
    while (server.of("GET").length < 2) {
      vi.advanceTimersByTime(10);
      await nextTurn();
    }
  }

  test("after comments is opened again after 90 seconds", async () => {
    const started = await silent(": alive\n\n");
    await pass(85);
    expect(statesOf(started)).toEqual(["opened"]);
    await pass(20);
    await reopened(started);
    expect(statesOf(started)).toContain("lost");
  });

  test("from the start is opened again after 15 minutes", async () => {
    const started = await silent();
    await pass(14 * 60);
    expect(statesOf(started)).toEqual(["opened"]);
    await pass(75);
    await reopened(started);
    expect(statesOf(started)).toContain("lost");
  });

  test("whose reply never begins is opened again after 15 minutes", async () => {
    holdClocks("setTimeout", "clearTimeout");
    const asked: object[] = [];
    const starting = start({ revision: legacyDates[0] as string, connectTimeoutMs: 1e9 }, (script) =>
      script.on("GET", (get) => {
        if (asked.push(get) > 1) get.stream()(event(logged("at last")));
      }),
    );
    while (asked.length < 1) await nextTurn();
    // Connecting waits for the stream, but not for ever.
    await pass(1);
    const started = await starting;
    await pass(14 * 60);
    expect(started.server.of("GET")).toHaveLength(1);
    await pass(75);
    await reopened(started);
    while (started.logs.length < 1) await nextTurn();
    expect(started.logs).toEqual(["at last"]);
  });

  test("stays open as long as something arrives", async () => {
    const started = await silent(": alive\n\n");
    const { response } = await started.server.next("GET");
    for (let minute = 0; minute < 5; minute++) {
      await pass(60);
      response.write(`: alive\n\n${event(logged(minute))}`);
      while (started.logs.at(-1) !== minute) await nextTurn();
    }
    expect(statesOf(started)).toEqual(["opened"]);
  });

  test("while the machine slept is opened again at once", async () => {
    const started = await silent();
    vi.setSystemTime(Date.now() + 3600_000);
    await pass(15);
    await reopened(started);
    expect(started.events).toContainEqual({
      type: "stream",
      stream: "get",
      state: "lost",
      reason: "the machine slept",
    });
  });
});

test("a modern client opens no GET stream", async () => {
  const { server, client } = await start({ revision: newestModern });
  server.on("work", ({ result }) => result());
  await client.request("work");
  expect(server.of("GET")).toEqual([]);
});
