// Replies to a request: JSON or events, with other messages or without, and replies that are not what was asked for.
import { ConnectionLost, HttpFailure, InvalidResponse, RpcRejection } from "halyard/client";
import { describe, expect, test } from "vitest";
import { cpuTime } from "../../support/cpu-time.ts";
import {
  type Asked,
  event,
  failing,
  logged,
  newestLegacy,
  newestModern,
  responseTo,
  start,
} from "../../support/http-script.ts";
import { legacyDates } from "../../support/revisions.ts";
import { nextTurn, until } from "../../support/turns.ts";

describe.each([newestModern, ...legacyDates])("a reply on %s", (revision) => {
  test("may be JSON [HTTP-POST-CLIENT-BOTH, HTTP26-REPLY-BOTH]", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ result }) => result({ a: 1 }));
    expect(await client.request("work")).toMatchObject({ a: 1 });
  });

  test("may be JSON in pieces that split a character [BASE-UTF8]", async () => {
    const { server, client } = await start({ revision });
    server.on("work", async (asked) => {
      const text = JSON.stringify(responseTo(asked, { a: "€uro 𝄞" }));
      asked.response.writeHead(200, { "content-type": "Application/JSON; charset=utf-8" });
      for (const byte of Buffer.from(text)) {
        asked.response.write(Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      asked.response.end();
    });
    expect(await client.request("work")).toMatchObject({ a: "€uro 𝄞" });
  });

  test("may be events, with other messages before the response [HTTP-POST-CLIENT-BOTH, HTTP26-REPLY-BOTH]", async () => {
    const { server, client, logs } = await start({ revision });
    server.on("work", (asked) => {
      const write = asked.stream();
      write(event(logged(1)), ": alive\n\n", event(logged(2)) + event(responseTo(asked, { a: 1 })));
      asked.response.end();
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(logs).toEqual([1, 2]);
  });

  test("may have comments anywhere between its lines, which say nothing [HTTP26-SSE-COMMENTS-IGNORE]", async () => {
    const { server, client, logs, events } = await start({ revision });
    server.on("work", (asked) => {
      const write = asked.stream();
      write(":\n\n:\r\n: data: {}\n", `:x\n${event(logged(1))}`, `::: id: 7\n${event(logged(2))}`);
      write(event(responseTo(asked, { a: 1 })).replace(/\n\n$/, "\n: between\n\n"));
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(logs).toEqual([1, 2]);
    expect(events.filter(({ type }) => type === "ignored")).toEqual([]);
  });

  test("has header names in any case, and spaces around their values [HTTP26-HEADER-NAME-CI]", async () => {
    const { server, client } = await start({ revision });
    const reply = (asked: Asked, type: string, body: string): void => {
      const head = `HTTP/1.1 200 OK\r\ncOnTeNt-TYPE:   ${type}  \r\nCONTENT-length: ${Buffer.byteLength(body)}`;
      asked.socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
    };
    server.on("work", (asked) =>
      reply(asked, "application/json", JSON.stringify(responseTo(asked, { a: 1 }))),
    );
    server.on("flow", (asked) => reply(asked, "text/event-stream", event(responseTo(asked, { a: 2 }))));
    expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(await client.request("flow")).toMatchObject({ a: 2 });
  });

  test("to text beyond ASCII has the same text, as UTF-8 [BASE-UTF8]", async () => {
    const { server, client } = await start({ revision });
    const text = "Tromsø 🌧 \u2028 \0 漢字";
    server.on("work", ({ message, result }) => result({ echo: message.params?.["text"] }));
    expect(await client.request("work", { text })).toMatchObject({ echo: text });
    const { body, headers } = await server.next("work");
    expect(Number(headers["content-length"] ?? Buffer.byteLength(body))).toBe(Buffer.byteLength(body));
    expect(headers["content-type"]).toBe("application/json");
  });

  test("is complete with the response, even if the stream stays open; then the client closes it", async () => {
    const { server, client } = await start({ revision });
    server.on("work", (asked) => asked.stream()(event(responseTo(asked, { a: 1 }))));
    expect(await client.request("work")).toMatchObject({ a: 1 });
    const { response } = await server.next("work");
    await until(() => response.destroyed);
  });

  test.each([
    ["that was used before may be one too many: the request may have run", true],
    ["of its own is no response", false],
  ])("with a response to another request, on a connection %s", async (_, isKept) => {
    const { server, client, events } = await start({ revision });
    server.on("work", (asked) => {
      asked.response.writeHead(200, { "content-type": "application/json" });
      asked.response.end(JSON.stringify({ jsonrpc: "2.0", id: 4711, result: {} }));
    });
    if (!isKept) {
      for (const socket of server.sockets) socket.destroy();
      await until(() => server.sockets.size === 0);
      await nextTurn();
    }
    const error = await failing(client.request("work"));
    if (isKept) expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    else expect(error).toBeInstanceOf(InvalidResponse);
    expect(events).toContainEqual({ type: "ignored", reason: expect.stringContaining("4711") });
  });

  test("whose stream has a response to another request waits for its own", async () => {
    const { server, client, events } = await start({ revision });
    server.on("work", (asked) => {
      const other = { jsonrpc: "2.0", id: "other", result: {} };
      asked.stream()(event(other), "data: not JSON\n\n", event(responseTo(asked, { a: 1 })));
    });
    expect(await client.request("work")).toMatchObject({ a: 1 });
    expect(events).toContainEqual({ type: "ignored", reason: expect.stringContaining("other") });
    expect(events).toContainEqual({ type: "ignored", reason: expect.stringContaining("JSON") });
  });

  test.each([202, 204])(
    "that is %i, on a connection that was used before, may be one too many: the request may have run",
    async (status) => {
      const { server, client } = await start({ revision });
      server.on("work", ({ refuse }) => refuse(status));
      const error = await failing(client.request("work"));
      expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
      expect(error.message).toContain(`the reply is ${status}, without a response`);
    },
  );

  test.each([
    ["nothing", 200, "", {}],
    ["a page", 200, "<html>Sign in</html>", { "content-type": "text/html" }],
  ])(
    "that is %s is an HttpFailure that says so",
    async (_, status, body, headers: Record<string, string>) => {
      const { server, client } = await start({ revision });
      server.on("work", ({ refuse }) => refuse(status, body, headers));
      const error = await failing(client.request("work"));
      expect(error).toBeInstanceOf(HttpFailure);
      expect(error).toMatchObject({
        status,
        url: server.url,
        message: expect.stringContaining(String(status)),
      });
      if (headers["content-type"])
        expect(error).toMatchObject({ body, message: expect.stringContaining("with a web page (Sign in)") });
    },
  );

  test.each(["", "{", '{"jsonrpc":"2.0"}', "null", "[]", '"text"'])(
    "that is %j as JSON is an InvalidResponse",
    async (body) => {
      const { server, client } = await start({ revision });
      server.on("work", ({ refuse }) => refuse(200, body, { "content-type": "application/json" }));
      expect(await failing(client.request("work"))).toBeInstanceOf(InvalidResponse);
    },
  );

  test("that breaks off is a ConnectionLost: the server may have run the request", async () => {
    const { server, client } = await start({ revision });
    const cuts: Record<string, (asked: Parameters<Parameters<typeof server.on>[1]>[0]) => void> = {
      head: ({ socket }) => socket.resetAndDestroy(),
      end: ({ socket }) => socket.end(),
      body: ({ response, socket }) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write("{", () => socket.destroy());
      },
      stream: ({ stream, response }) => {
        stream()(": alive\n\n");
        response.end();
      },
      event: ({ stream, socket, response }) => {
        stream();
        response.write("data: {", () => socket.destroy());
      },
    };
    for (const [name, cut] of Object.entries(cuts)) {
      server.on(name, cut);
      const error = await failing(client.request(name));
      expect(error, name).toBeInstanceOf(ConnectionLost);
      expect(error, name).toMatchObject({ reason: "cut", mayHaveRun: true });
      expect(server.of(name)).toHaveLength(1);
    }
  });
});

test("a batch may carry the response and other messages, where batches exist [HTTP-POST-BODY-BATCH, BASE-BATCH-RECEIVE]", async () => {
  const { server, client, logs } = await start({ revision: "2025-03-26" });
  server.on("work", (asked) => {
    asked.response.writeHead(200, { "content-type": "application/json" });
    asked.response.end(JSON.stringify([logged("in a batch"), responseTo(asked, { a: 1 })]));
  });
  expect(await client.request("work")).toMatchObject({ a: 1 });
  expect(logs).toEqual(["in a batch"]);
});

test("a response may arrive on the stream of another request of the session", async () => {
  const { server, client } = await start({ revision: newestLegacy });
  server.on("first", ({ stream }) => void stream());
  server.on("second", async (asked) => {
    const first = await server.next("first");
    asked.stream()(event(responseTo(first, { a: 1 })), event(responseTo(asked, { a: 2 })));
  });
  const first = client.request("first");
  await server.next("first");
  expect(await client.request("second")).toMatchObject({ a: 2 });
  expect(await first).toMatchObject({ a: 1 });
});

test("the stream of a request whose response arrived on another one is closed", async () => {
  const { server, client } = await start({ revision: newestLegacy });
  server.on("first", ({ stream }) => void stream());
  server.on("second", async (asked) => {
    const first = await server.next("first");
    asked.stream()(event(responseTo(first, { a: 1 })), event(responseTo(asked, { a: 2 })));
  });
  const first = client.request("first");
  const { response } = await server.next("first");
  await client.request("second");
  await first;
  await until(() => response.destroyed);
});

test("an error without an id is the response to the request that it replies to [BASE-ERR-ID-UNREADABLE]", async () => {
  for (const revision of [newestModern, newestLegacy]) {
    const { server, client } = await start({ revision });
    const error = { code: -32700, message: "Unreadable" };
    server.on("work", ({ refuse }) => refuse(200, { jsonrpc: "2.0", id: null, error }));
    server.on("other", ({ refuse }) => refuse(400, { jsonrpc: "2.0", error }));
    for (const method of ["work", "other"]) {
      const rejection = await failing(client.request(method));
      expect(rejection).toBeInstanceOf(RpcRejection);
      expect(rejection).toMatchObject({ code: -32700 });
    }
  }
});

test("requests that a modern server sends get no response: nothing is posted [HTTP26-BODY-NO-RESPONSE, BASE-CLIENT-NO-RESPONSES]", async () => {
  const { server, client, events } = await start({
    roots: [],
    onSample: () => ({ role: "assistant" }) as never,
  });
  const methods = ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "no/such"];
  const questions = methods.map((method, id) => ({ jsonrpc: "2.0", id, method, params: {} }));
  server.on("work", (asked) => {
    asked.stream()(...questions.map((question) => event(question)), event(responseTo(asked, { a: 1 })));
  });
  expect(await client.request("work")).toMatchObject({ a: 1 });
  server.on("after", ({ result }) => result());
  await client.request("after");
  expect(server.asked.map(({ message }) => message.method)).toEqual(["server/discover", "work", "after"]);
  const ignored = events.flatMap((seen) => (seen.type === "ignored" ? [seen.reason] : []));
  expect(ignored).toEqual(
    methods.map((method) => `The request ${method}: a modern server may not send requests`),
  );
});

test.each(["x", "{x}"])("a reply with many events of the text %s costs little, and is read", async (text) => {
  const { server, client } = await start({ revision: newestModern });
  server.on("work", (asked) => {
    const write = asked.stream();
    for (let kilobytes = 0; kilobytes < 2000; kilobytes += 100)
      write(`data:${text}\n\n`.repeat(100_000 / (text.length + 7)));
    write(event(responseTo(asked, { a: 1 })));
  });
  const cost = await cpuTime(async () => {
    expect(await client.request("work")).toMatchObject({ a: 1 });
  });
  // About 100 ms. An exception for each text would take a second.
  expect(cost).toBeLessThan(700);
});

describe("a reply whose connection", () => {
  test("switches to another protocol fails the call, which may have run", async () => {
    const { server, client } = await start();
    server.on("work", ({ socket }) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"),
    );
    const error = await failing(client.request("work", {}, { timeoutMs: 1e9 }));
    expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(server.of("work")).toHaveLength(1);
  });

  test("breaks while the client looks for other credentials says what its head says", async () => {
    const { server, client } = await start({
      auth: { headers: () => ({ authorization: "Bearer token" }), refused: () => false },
    });
    server.on("work", ({ socket }) =>
      socket.write("HTTP/1.1 401 Unauthorized\r\ncontent-length: 100\r\n\r\nhalf", () =>
        socket.resetAndDestroy(),
      ),
    );
    const error = await failing(client.request("work", {}, { timeoutMs: 1e9 }));
    expect(error).toMatchObject({ code: "NEEDS_AUTH", status: 401 });
  });
});
