// JSON-RPC envelopes: which messages are answered, with which id, and which are passed over in silence.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import { cells, describeMatrix, pipes } from "../../support/matrix.ts";
import {
  answersTo,
  modernDates,
  modernMeta,
  newestModern,
  RawPeer,
  rawPeer,
  unreadableId,
} from "../../support/raw.ts";

function makeServer(): { server: McpServer; ran: string[] } {
  const ran: string[] = [];
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
  server.tool("first", {}, () => void ran.push("first"));
  server.tool("second", {}, () => void ran.push("second"));
  server.prompt("hello", {}, () => "Hello");
  return { server, ran };
}

const invalid = { code: -32600, message: expect.any(String) };

describeMatrix("ids", {}, (cell) => {
  test.each([0, 1, -1, -7, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    "the number %d comes back as that number, in a result and in an error [BASE-RESP-ID-ECHO, BASE-REQ-ID-TYPE]",
    async (id) => {
      const client = await cell.connect(makeServer().server);
      await client.request("tools/list", {}, { id });
      await expect(client.request("no/such/method", {}, { id })).rejects.toMatchObject({ code: -32601 });
      const answers = client.received.filter((message) => "id" in message && message.id === id);
      expect(answers.filter((message) => "result" in message)).not.toEqual([]);
      expect(answers.filter((message) => "error" in message)).toHaveLength(1);
      await client.close();
    },
  );

  test.each(["", "1", "0", "null", "a\nb", "\u0000", "\ud800", "😀", "__proto__", "x".repeat(4096)])(
    "the string %j comes back as that string, in a result and in an error [BASE-RESP-ID-ECHO, BASE-REQ-ID-TYPE]",
    async (id) => {
      const client = await cell.connect(makeServer().server);
      await client.request("tools/list", {}, { id });
      await expect(client.request("no/such/method", {}, { id })).rejects.toMatchObject({ code: -32601 });
      await client.close();
    },
  );

  test("an id may be used again once it has been answered [BASE-RESP-ID-ECHO]", async () => {
    const client = await cell.connect(makeServer().server);
    for (let round = 0; round < 3; round++) await client.request("tools/list", {}, { id: "again" });
    await client.close();
  });
});

/** What cannot be an id, as JSON text; and numbers that could not be echoed as they came. */
const noIds = [
  "null",
  "true",
  "false",
  "1.5",
  "{}",
  "[]",
  '{"id":1}',
  "[1]",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "1e400",
  "-1e400",
  "1e100",
  "5e-324",
];

describe.each(cells({ transports: ["memory"] }))("no ids · $revision", ({ revision }) => {
  test.each(noIds)(
    "a request with the id %s is invalid, and its id counts as unreadable [BASE-REQ-ID-NOT-NULL, BASE-REQ-ID-TYPE, BASE-ERR-ID-UNREADABLE]",
    async (id) => {
      const { server, ran } = makeServer();
      const peer = await rawPeer(server, revision);
      const params = JSON.stringify({ name: "first", _meta: modernMeta() });
      const answer = await peer.sayText(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`,
      );
      expect(answer).toEqual({ jsonrpc: "2.0", ...unreadableId(revision), error: invalid });
      expect(ran).toEqual([]);
    },
  );
});

describeMatrix("what is no message", { transports: pipes }, (cell) => {
  test.each([
    "",
    "{",
    "nonsense",
    '{"jsonrpc":"2.0","id":1,"method":"ping"',
    "[1,",
    "'a'",
    "{a:1}",
    "NaN",
    "1 2",
  ])(
    "%j is a parse error without a readable id [BASE-ERR-ID-UNREADABLE, BASE-ERR-STANDARD-CODES]",
    async (text) => {
      const client = await cell.connect(makeServer().server);
      const answers = await answersTo(client, text);
      // An empty line is no message on stdio.
      const expected = {
        jsonrpc: "2.0",
        ...unreadableId(cell.revision),
        error: { code: -32700, message: expect.any(String) },
      };
      expect(answers).toEqual(text === "" && cell.transport === "stdio" ? [] : [expected]);
      await client.close();
    },
  );

  test.each(["1", '"text"', "null", "true", "{}", '{"jsonrpc":"2.0"}', '{"method":5}', "[[]]"])(
    "%s is an invalid request without a readable id [BASE-JSONRPC-2, BASE-ERR-ID-UNREADABLE, BASE-ERR-STANDARD-CODES]",
    async (text) => {
      const client = await cell.connect(makeServer().server);
      const answers = await answersTo(client, text);
      expect(answers).toEqual([{ jsonrpc: "2.0", ...unreadableId(cell.revision), error: invalid }]);
      await client.close();
    },
  );

  test.each([
    { id: 5 },
    { jsonrpc: "1.0", id: 5, method: "tools/list" },
    { jsonrpc: 2, id: 5, method: "tools/list" },
    { jsonrpc: "2.00", id: 5, method: "tools/list" },
    { id: 5, method: "tools/list" },
    { jsonrpc: "2.0", id: 5 },
    { jsonrpc: "2.0", id: 5, method: 7 },
    { jsonrpc: "2.0", id: 5, method: null },
    { jsonrpc: "2.0", id: 5, method: ["tools/list"] },
  ])("%j is an invalid request whose id can be read [BASE-JSONRPC-2, BASE-RESP-ID-ECHO]", async (message) => {
    const client = await cell.connect(makeServer().server);
    const answers = await answersTo(client, JSON.stringify(message));
    expect(answers).toEqual([{ jsonrpc: "2.0", id: 5, error: invalid }]);
    await client.close();
  });

  test.each(["null", "[]", "[1]", '"text"', "5", "true"])(
    "a request whose params are %s has invalid params [BASE-ERR-STANDARD-CODES]",
    async (params) => {
      const client = await cell.connect(makeServer().server);
      const answers = await answersTo(
        client,
        `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":${params}}`,
      );
      expect(answers).toMatchObject([{ jsonrpc: "2.0", id: 5, error: { code: -32602 } }]);
      await client.close();
    },
  );
});

describe.each(cells({ transports: ["memory"] }))("keys · $revision", ({ revision }) => {
  // Without a method it is invalid; without an id it is a notification; without params nothing says what to call,
  // and, in the modern era, who is calling.
  const withoutParams = modernDates.includes(revision) ? -32600 : -32602;
  test.each([
    ["Method", { id: 5, Method: "tools/list" }, -32600],
    ["METHOD", { id: 5, METHOD: "tools/list" }, -32600],
    ["JSONRPC", { id: 5, method: "tools/list", jsonrpc: undefined, JSONRPC: "2.0" }, -32600],
    ["ID", { ID: 6, method: "tools/list" }, undefined],
    ["Id", { Id: 6, method: "tools/list" }, undefined],
    [
      "Params",
      { id: 5, method: "tools/call", Params: { name: "first", _meta: modernMeta() } },
      withoutParams,
    ],
  ])("%s is not the key it looks like [BASE-JSONRPC-2]", async (_, members, expected) => {
    const { server, ran } = makeServer();
    const peer = await rawPeer(server, revision);
    const answer = await peer.say({ jsonrpc: "2.0", ...members });
    expect(answer?.result).toBeUndefined();
    expect(answer?.error?.code).toBe(expected);
    expect(ran).toEqual([]);
  });

  test("Name, Arguments and _Meta are not the parameters they look like", async () => {
    const { server, ran } = makeServer();
    const peer = await rawPeer(server, revision);
    expect(await peer.request("tools/call", { Name: "first" })).toMatchObject({ error: { code: -32602 } });
    expect(ran).toEqual([]);
  });
});

describe.each(cells({ transports: ["memory"] }))("duplicate keys · $revision", ({ revision }) => {
  const meta = JSON.stringify(modernMeta());

  test("of two methods and two ids the last ones count", async () => {
    const peer = await rawPeer(makeServer().server, revision);
    const text = `{"jsonrpc":"2.0","id":1,"id":2,"method":"prompts/list","params":{"_meta":${meta}},"method":"tools/list"}`;
    const answer = await peer.sayText(text);
    expect(answer).toMatchObject({ id: 2, result: { tools: [{ name: "first" }, { name: "second" }] } });
  });

  test("of two names the last one counts, for middleware, catalogue and handler alike", async () => {
    const { server, ran } = makeServer();
    const seen: unknown[] = [];
    server.use("tools/call", (request, _, next) => {
      seen.push(request.params.name);
      return next();
    });
    const peer = await rawPeer(server, revision);
    await peer.sayText(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"first","_meta":${meta},"name":"second"}}`,
    );
    expect([seen, ran]).toEqual([["second"], ["second"]]);
  });

  test("of two params the last ones count, and a request hidden in the first ones is never seen", async () => {
    const { server, ran } = makeServer();
    const peer = await rawPeer(server, revision);
    const params = (name: string): string => `"params":{"name":"${name}","_meta":${meta}}`;
    await peer.sayText(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call",${params("first")},${params("second")}}`,
    );
    expect(ran).toEqual(["second"]);
  });
});

describe("duplicate _meta", () => {
  const modern = JSON.stringify(modernMeta());
  const listWith = (first: string, second: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${first},"_meta":${second}}}`;

  test("the last one says whether the request is modern", async () => {
    const peer = new RawPeer(makeServer().server, newestModern);
    expect(await peer.sayText(listWith("{}", modern))).toMatchObject({ result: { resultType: "complete" } });
    expect(await peer.sayText(listWith(modern, "{}"))).toMatchObject({ error: { code: -32600 } });
  });

  test("the last version in it is the one that is judged", async () => {
    const peer = new RawPeer(makeServer().server, newestModern);
    const twice = (first: string, second: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"${first}",` +
      `"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"${second}"}}}`;
    expect(await peer.sayText(twice("2026-07-28", "1999-01-01"))).toMatchObject({ error: { code: -32022 } });
    expect(await peer.sayText(twice("1999-01-01", "2026-07-28"))).toMatchObject({ result: {} });
  });
});

describeMatrix("notifications", {}, (cell) => {
  test.each([
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1},"reason":7}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}',
    '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"far"}}',
    '{"jsonrpc":"2.0","method":"notifications/no/such/thing","params":{"a":[1]}}',
    '{"jsonrpc":"2.0","method":"toString"}',
    '{"jsonrpc":"2.0","method":""}',
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}',
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":null}',
    '{"jsonrpc":"2.0","method":"notifications/no/such/thing","params":"text"}',
  ])("%s is never answered [BASE-NOTIF-NO-REPLY]", async (text) => {
    const client = await cell.connect(makeServer().server);
    expect(await answersTo(client, text)).toEqual([]);
    await client.close();
  });

  test("a request that lost its id is a notification: it is neither run nor answered [BASE-NOTIF-NO-REPLY]", async () => {
    const { server, ran } = makeServer();
    const client = await cell.connect(server);
    const message = { jsonrpc: "2.0", method: "tools/call", ...client.withMeta({ name: "first" }) };
    const unknown = { jsonrpc: "2.0", method: "no/such/method", ...client.withMeta() };
    expect(await answersTo(client, JSON.stringify(message), JSON.stringify(unknown))).toEqual([]);
    expect(ran).toEqual([]);
    await client.close();
  });

  test("a handler of notifications that fails is logged and not answered [BASE-NOTIF-NO-REPLY]", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    server.onNotification((method) => {
      if (method === "notifications/boom") throw new Error("boom");
    });
    const client = await cell.connect(server);
    expect(await answersTo(client, '{"jsonrpc":"2.0","method":"notifications/boom"}')).toEqual([]);
    expect(logger.entries.filter(({ level }) => level === "error")).toHaveLength(1);
    await client.close();
  });
});

describeMatrix("responses", { transports: pipes }, (cell) => {
  test.each([
    { id: 1, result: {} },
    { id: "nobody", result: { content: [] } },
    { id: 99, error: { code: -32603, message: "no" } },
    { id: 99, error: { code: -32002, message: "no" } },
    { id: null, error: { code: -32700, message: "no" } },
    { error: { code: -32700, message: "no" } },
    { id: {}, result: {} },
    { id: 1, result: null },
    { id: 1, result: 5 },
    { id: 1, error: "text" },
    { id: 1, result: {}, error: { code: 1, message: "both" } },
  ])("%j answers nothing that was asked, and is ignored [BASE-RESP-XOR]", async (members) => {
    const client = await cell.connect(makeServer().server);
    expect(await answersTo(client, JSON.stringify({ jsonrpc: "2.0", ...members }))).toEqual([]);
    await client.close();
  });
});

describeMatrix("answers", {}, (cell) => {
  test("each has jsonrpc 2.0 and either a result object or an error of a code and a sentence [BASE-JSONRPC-2, BASE-RESP-XOR, BASE-RESULT-FIELD, BASE-ERR-SHAPE, BASE-ERR-MESSAGE-SHORT]", async () => {
    const client = await cell.connect(makeServer().server);
    const ask = (method: string, params: object): string =>
      JSON.stringify({ jsonrpc: "2.0", id: method, method, ...client.withMeta({ ...params }) });
    const answers = await answersTo(
      client,
      ask("tools/list", {}),
      ask("tools/call", { name: "first" }),
      ask("prompts/get", { name: "hello" }),
      ask("prompts/list", { cursor: 5 }),
      ask("no/such/method", {}),
      ask("resources/read", { uri: "x" }),
      "{}",
      "{",
    );
    expect(answers).toHaveLength(8);
    for (const answer of answers) {
      expect(answer.jsonrpc).toBe("2.0");
      expect("result" in answer).toBe(!("error" in answer));
      if (answer.error === undefined) {
        expect(answer.result).toBeTypeOf("object");
      } else {
        expect(Number.isInteger(answer.error.code)).toBe(true);
        expect(answer.error.message).toMatch(/^[^\n]{1,200}$/);
      }
    }
    await client.close();
  });

  test.skipIf(cell.transport === "http")(
    "an error does not repeat a long name in full [BASE-ERR-MESSAGE-SHORT]",
    async () => {
      const client = await cell.connect(makeServer().server);
      const long = "x".repeat(100_000);
      const failures = [
        client.request(long),
        client.request("tools/call", { name: long }),
        client.request("prompts/get", { name: long }),
      ];
      for (const failure of failures) {
        const error = await failure.then(
          () => expect.unreachable(),
          (reason: Error) => reason,
        );
        expect((error as Error).message.length).toBeLessThan(1000);
      }
      await client.close();
    },
  );
});
