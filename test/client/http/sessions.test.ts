// Sessions of legacy servers: the id that a client carries, the end that it announces, and the 404 that ends one.
import { connect, ConnectionLost, HttpFailure, InvalidResponse } from "halyard/client";
import { describe, expect, test } from "vitest";
import {
  event,
  failing,
  HttpScript,
  newestModern,
  quick,
  responseTo,
  start,
} from "../../support/http-script.ts";
import { legacyDates } from "../../support/revisions.ts";
import { deferred, until } from "../../support/turns.ts";

describe.each(legacyDates)("a session of %s", (revision) => {
  const initialized = {
    protocolVersion: revision,
    capabilities: {},
    serverInfo: { name: "s", version: "1" },
  };

  test("has the id of the reply to initialize, also if that is a stream [SESS-ECHO, HTTP-POST-CLIENT-BOTH]", async () => {
    const { server, client } = await start({ revision }, (script) =>
      script.on("initialize", ({ stream, response, message }) => {
        stream({ "mcp-session-id": "!from~stream" })(
          event({ jsonrpc: "2.0", id: message.id, result: initialized }),
        );
        response.end();
      }),
    );
    server.on("work", ({ result, response }) => {
      // Only the reply to initialize can name a session.
      response.setHeader("mcp-session-id", "another");
      result();
    });
    await client.request("work");
    await client.request("work");
    expect(server.of("work").map(({ headers }) => headers["mcp-session-id"])).toEqual([
      "!from~stream",
      "!from~stream",
    ]);
    expect(server.of("notifications/initialized")[0]?.headers["mcp-session-id"]).toBe("!from~stream");
  });

  test.each(["has space", "späße", ""])("cannot have the id %j", async (id) => {
    const server = await HttpScript.open(revision);
    server.on("initialize", ({ response, message }) => {
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": id });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: initialized }));
    });
    const error = await failing(connect(server.url, { revision, backoff: quick }));
    expect(error).toBeInstanceOf(InvalidResponse);
    expect(error.message).toContain("session id");
  });

  test("is ended with DELETE when the client closes [SESS-DELETE]", async () => {
    const { server, client } = await start({ revision });
    await client.close();
    expect(server.of("DELETE").map(({ headers }) => headers["mcp-session-id"])).toEqual(["session-1"]);
    await until(() => server.sockets.size === 0);
  });

  test("ends with its connections: no message says so [INIT-SHUTDOWN-HTTP]", async () => {
    const { server, client } = await start({ revision }, (script) =>
      script.on("GET", ({ stream }) => void stream()),
    );
    await server.next("GET");
    server.on("work", ({ stream }) => void stream());
    const waiting = failing(client.request("work"));
    await server.next("work");
    const posted = server.asked.filter(({ method }) => method === "POST").length;
    await client.close();
    expect(await waiting).toMatchObject({ reason: "closed" });
    await until(() => server.sockets.size === 0);
    expect(server.asked.filter(({ method }) => method === "POST")).toHaveLength(posted);
  });

  test("has an id that goes to its server only, and into nothing that a user keeps or shows [SESS-ID-CLIENT-SECURE]", async () => {
    const elsewhere = await HttpScript.open(revision);
    const record: string[] = [];
    const { server, client, events } = await start({ revision, record: (line) => record.push(line) });
    server.on("moved", ({ refuse }) => refuse(307, "", { location: elsewhere.url }));
    server.on("broken", ({ socket }) => socket.destroy());
    server.on("wrong", ({ refuse }) => refuse(400, "No"));
    server.on("gone", ({ refuse }) => refuse(404));
    const errors = [];
    for (const method of ["moved", "broken", "wrong", "gone"])
      errors.push(await failing(client.request(method)));
    await client.close();
    expect(server.of("gone").length).toBeGreaterThan(1);
    expect(server.sessions).toContain("session-2");
    expect(elsewhere.asked).toEqual([]);
    const shown = errors.flatMap(({ message, stack, ...rest }) => [message, stack, JSON.stringify(rest)]);
    const kept = [...record, JSON.stringify([events, client.remember(), client.state]), ...shown];
    expect(record.length).toBeGreaterThan(5);
    for (const text of kept) expect(text).not.toMatch(/session-\d/);
    const others = server.asked.map(({ path, body }) => path + body);
    for (const text of others) expect(text).not.toMatch(/session-\d/);
  });

  test("that does not exist is not ended, and a refused DELETE is no error", async () => {
    const without = await start({ revision }, (script) =>
      script.on("initialize", ({ result }) => result(initialized)),
    );
    await without.client.close();
    expect(without.server.of("DELETE")).toEqual([]);
    const refusing = await start({ revision }, (script) => script.on("DELETE", ({ refuse }) => refuse(405)));
    await refusing.client.close();
    expect(refusing.server.of("DELETE")).toHaveLength(1);
  });

  test("that is gone (404) is replaced once, and all requests that met the 404 are sent again [SESS-404-REINIT]", async () => {
    const { server, client } = await start({ revision });
    const all = deferred();
    server.on("work", async ({ headers, refuse, result }) => {
      if (server.of("work").length === 5) all.resolve();
      await all.promise;
      if (headers["mcp-session-id"] === "session-1")
        refuse(404, { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } });
      else result({ session: headers["mcp-session-id"] });
    });
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => client.request("work")));
    expect(results).toEqual(results.map(() => expect.objectContaining({ session: "session-2" })));
    expect(server.sessions).toEqual(["session-1", "session-2"]);
    const [, second] = server.of("initialize");
    expect(second?.headers["mcp-session-id"]).toBeUndefined();
    await client.close();
    expect(server.of("DELETE").map(({ headers }) => headers["mcp-session-id"])).toEqual(["session-2"]);
  });

  test("that is always gone ends in an error, not in a loop", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse }) => refuse(404));
    const error = await failing(client.request("work"));
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(error).toMatchObject({ reason: "session-gone", mayHaveRun: false });
    expect(server.of("work").length).toBeLessThan(10);
  });

  test("a request that is aborted is cancelled by a message, and its connection is closed [HTTP-CANCEL-EXPLICIT, CANCEL-REF-LEGACY]", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ stream }) => void stream());
    const abort = new AbortController();
    const working = client.request("work", {}, { signal: abort.signal });
    const { message, response } = await server.next("work");
    abort.abort("enough");
    expect(await failing(working)).toBe("enough");
    const cancelled = await server.next("notifications/cancelled");
    expect(cancelled.message.params).toMatchObject({ requestId: message.id });
    expect(cancelled.headers["mcp-session-id"]).toBe("session-1");
    await until(() => response.destroyed);
  });
});

test("a modern client has no session, even if the server names one [SESS-MODERN-NONE]", async () => {
  const { server, client } = await start({}, (script) => {
    script.on("work", ({ response, result }) => {
      response.setHeader("mcp-session-id", "unasked");
      result();
    });
  });
  await client.request("work");
  await client.request("work");
  await client.close();
  expect(server.asked.map(({ headers }) => headers["mcp-session-id"])).toEqual(
    server.asked.map(() => undefined),
  );
  expect(server.of("DELETE")).toEqual([]);
});

test("without a session, 404 is a wrong path", async () => {
  const { server, client } = await start();
  server.on("work", ({ refuse }) => refuse(404, "Not found"));
  const error = await failing(client.request("work"));
  expect(error).toBeInstanceOf(HttpFailure);
  expect(error).toMatchObject({ status: 404, message: expect.stringContaining("path") });
});

test("a modern request that is aborted is cancelled by closing its connection, and no message [SUB-CANCEL-CLIENT]", async () => {
  const { server, client } = await start({ revision: newestModern });
  const hangs: Record<string, (asked: Awaited<ReturnType<typeof server.next>>) => void> = {
    "before the head": () => {},
    "after the head": ({ stream }) => void stream(),
    "within an event": ({ stream }) => stream()("data: {"),
  };
  for (const [name, hang] of Object.entries(hangs)) {
    server.on(name, hang);
    const abort = new AbortController();
    const working = client.request(name, {}, { signal: abort.signal });
    const { socket } = await server.next(name);
    abort.abort(name);
    expect(await failing(working)).toBe(name);
    await until(() => socket.destroyed);
  }
  expect(server.of("notifications/cancelled")).toEqual([]);
});

test("an answer that may not have arrived is sent again, so that the server does not wait for it in vain", async () => {
  const { server, client, events } = await start({ revision: legacyDates[0] as string });
  const answered = deferred();
  const fates: ((asked: Awaited<ReturnType<typeof server.next>>) => void)[] = [
    ({ refuse }) => refuse(503),
    ({ socket }) => socket.destroy(),
    ({ refuse }) => {
      refuse(202);
      answered.resolve();
    },
  ];
  server.on("POST", (asked) => fates.shift()?.(asked));
  server.on("work", async (asked) => {
    const write = asked.stream();
    write(event({ jsonrpc: "2.0", id: 7, method: "ping" }));
    await answered.promise;
    write(event(responseTo(asked, { a: 1 })));
  });
  expect(await client.request("work")).toMatchObject({ a: 1 });
  expect(server.of("POST").map(({ message }) => message)).toEqual(
    Array.from({ length: 3 }, () => ({ jsonrpc: "2.0", id: 7, result: {} })),
  );
  expect(events.filter(({ type }) => type === "ignored")).toEqual([]);
});
