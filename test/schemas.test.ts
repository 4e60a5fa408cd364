// What the tests trust when they check messages: that the check itself finds what is wrong, on every way that a message takes.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "halyard";
import { protocolRevisions, TestClient, type Wire } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { send } from "./support/event-reply.ts";
import { post, sendTo } from "./support/http.ts";
import { modernRequest } from "./support/raw.ts";
import { MessageChecker } from "./support/schemas/check-message.ts";
import { reportClients } from "./support/schemas/watch-client.ts";
import { reportHttp } from "./support/schemas/watch-http.ts";
import { takeProblems } from "./support/schemas/witness.ts";

const content = [{ type: "text", text: "Hello" }];
const complete = { resultType: "complete", content };

function resultOf(result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id: 1, result };
}

interface Wrong {
  readonly what: string;
  readonly revision: string;
  readonly message: JsonObject;
  readonly answered?: string;
  readonly problem: string;
}

const wrong: readonly Wrong[] = [
  {
    what: "a key that the revision does not have",
    revision: "2025-11-25",
    message: resultOf(complete),
    answered: "tools/call",
    problem: "/resultType: unknown key",
  },
  {
    what: "a key in a content block",
    revision: "2026-07-28",
    message: resultOf({ ...complete, content: [{ type: "text", text: "Hello", size: 5 }] }),
    answered: "tools/call",
    problem: "/content/0/size: unknown key",
  },
  {
    what: "a field of a tool that is younger than the revision",
    revision: "2025-03-26",
    message: resultOf({ tools: [{ name: "a", inputSchema: { type: "object" }, outputSchema: {} }] }),
    answered: "tools/list",
    problem: "/tools/0/outputSchema: unknown key",
  },
  {
    what: "an empty result with something in it",
    revision: "2024-11-05",
    message: resultOf({ pong: true }),
    answered: "ping",
    problem: "/pong: unknown key",
  },
  {
    what: "a missing field",
    revision: "2026-07-28",
    message: resultOf({ content }),
    answered: "tools/call",
    problem: "resultType",
  },
  {
    what: "the result of another method",
    revision: "2025-06-18",
    message: resultOf({ prompts: [] }),
    answered: "tools/list",
    problem: "tools",
  },
  {
    what: "a method that the revision does not have",
    revision: "2025-11-25",
    message: { jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: {} },
    problem: "the revision does not have it",
  },
  {
    what: "parameters that are missing",
    revision: "2025-11-25",
    message: { jsonrpc: "2.0", method: "notifications/resources/updated" },
    problem: "params",
  },
  {
    what: "an unknown parameter",
    revision: "2024-11-05",
    message: { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { tools: 1 } },
    problem: "/params/tools: unknown key",
  },
  {
    what: "an error without what its code demands",
    revision: "2026-07-28",
    message: { jsonrpc: "2.0", id: 1, error: { code: -32022, message: "No", data: {} } },
    problem: "/data",
  },
  {
    what: "a null id where the revision leaves it out",
    revision: "2025-11-25",
    message: { jsonrpc: "2.0", id: null, error: { code: -32700, message: "No" } },
    problem: "/id",
  },
  {
    what: "a key beside the envelope",
    revision: "2025-06-18",
    message: { ...resultOf({}), extra: 1 },
    answered: "ping",
    problem: "/extra: unknown key",
  },
  {
    what: "a task of the extension with a field of 2025-11-25",
    revision: "2026-07-28",
    message: resultOf({
      resultType: "task",
      taskId: "a",
      status: "working",
      createdAt: "2026-07-28T00:00:00Z",
      lastUpdatedAt: "2026-07-28T00:00:00Z",
      ttlMs: null,
      ttl: 1,
    }),
    answered: "tools/call",
    problem: "unknown key",
  },
];

describe("a message that the official schema does not allow", () => {
  test.each(wrong)("is found out: $what", ({ revision, message, answered, problem }) => {
    const checker = new MessageChecker(revision);
    expect(checker.problem(message, answered === undefined ? [] : [answered])).toContain(problem);
  });

  test("is found out on the wire of a test client, and names the message and the test", async () => {
    const wire: Wire = {
      onMessage: () => {},
      onClose: () => {},
      send: () => wire.onMessage(JSON.stringify(resultOf({ ...complete, surprise: 1 }))),
      close: async () => {},
    };
    const client = new TestClient(wire, { revision: "2026-07-28" });
    await client.request("tools/call", { name: "hello" });
    reportClients();
    const [problem, ...others] = await takeProblems();
    expect(problem).toMatch(/^2026-07-28 result of tools\/call: \/surprise: unknown key/);
    expect(problem).toContain('"surprise":1');
    expect(problem).toContain("is found out on the wire of a test client");
    expect(others).toEqual([]);
  });

  test.each(["application/json", "text/event-stream"])("is found out over HTTP, in %s", async (type) => {
    const text = JSON.stringify(resultOf({ ...complete, surprise: 1 }));
    const http = createServer((_, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(type === "application/json" ? text : `data: ${text}\n\n`);
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void http.close());
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const { body = "", headers = {} } = post(modernRequest(1, "tools/call", { name: "hello" }));
    await (await sendTo(port, { body, headers })).complete();
    const reply = await send(`http://127.0.0.1:${port}/mcp`, { body: String(body), headers });
    await reply.closed;
    reportHttp();
    expect(await takeProblems()).toEqual([
      expect.stringContaining("/surprise: unknown key"),
      expect.stringContaining("/surprise: unknown key"),
    ]);
  });
});

describe("a message that the official schema allows", () => {
  test.each(protocolRevisions)("is no problem: $date", ({ date, era }) => {
    const checker = new MessageChecker(date);
    const result = era === "modern" ? complete : { content };
    expect(checker.problem(resultOf({ ...result, _meta: { "example.com/a": 1 } }), ["tools/call"])).toBe(
      undefined,
    );
    const error = { jsonrpc: "2.0", id: "a", error: { code: -32602, message: "No", data: { any: 1 } } };
    expect(checker.problem(error, [])).toBe(undefined);
  });
});
