// Whatever arrives, the server stays up and answers with valid JSON-RPC or not at all.
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { type JsonObject, McpServer } from "halyard";
import { Connection, type RpcMessage } from "halyard/transport";
import { serveStdio } from "halyard/stdio";
import { protocolRevisions } from "halyard/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { recordingLogger } from "../../support/log.ts";
import {
  initializeRequest,
  legacyDates,
  modernMeta,
  modernRequest,
  newestModern,
  rawPeer,
  RawPeer,
} from "../../support/raw.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";

const any = { type: "object" } as const;

function makeServer(): McpServer {
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger, limits: { maxDepth: 20 } });
  server.tool("echo", { input: any, output: any }, (args) => args);
  server.tool("none", {}, () => "none");
  server.prompt(
    "greet",
    { arguments: { type: "object", properties: { who: { type: "string" } } } },
    () => "Hello",
  );
  server.resource("test://a", {}, () => "a");
  server.resourceTemplate("item:///{id}", { complete: { id: () => ["1"] } }, ({ uri }) => uri);
  server.extension("com.example/clock", { requests: { "clock/now": () => ({ now: 0 }) } });
  return server;
}

const server = makeServer();

beforeEach(() => allowBeyondSchema("result of clock/now"));

/** Every code that this server may send when no handler fails. */
const codes = {
  modern: new Set([-32700, -32600, -32601, -32602, -32021, -32022]),
  // A request may be a modern one on any connection; a missing resource has a code of its own in the legacy era.
  legacy: new Set([-32700, -32600, -32601, -32602, -32002, -32021, -32022]),
};

function expectResponse(value: unknown, revision: string): void {
  const { jsonrpc, ...members } = value as Record<string, unknown>;
  expect(jsonrpc).toBe("2.0");
  const kinds = Object.keys(members).filter((key) => key !== "id");
  expect(kinds).toHaveLength(1);
  if ("result" in members) {
    expect(typeof members["id"] === "string" || Number.isSafeInteger(members["id"])).toBe(true);
    expect(members["result"]).toBeTypeOf("object");
    expect(members["result"]).not.toBeNull();
    return;
  }
  const { code, message } = members["error"] as { code: number; message: unknown };
  expect(codes[revision === newestModern ? "modern" : "legacy"]).toContain(code);
  expect(message).toBeTypeOf("string");
  if (members["id"] === null) expect(revision < "2025-11-25").toBe(true);
}

async function expectWellBehaved(text: string, revision: string): Promise<void> {
  const peer = await rawPeer(server, revision);
  const answer = await peer.exact(text);
  if (answer === undefined) return;
  expect(answer).not.toContain("\n");
  const value = JSON.parse(answer) as unknown;
  if (Array.isArray(value)) {
    expect(revision).toBe("2025-03-26");
    expect(value).not.toHaveLength(0);
    for (const entry of value) expectResponse(entry, revision);
  } else expectResponse(value, revision);
}

const revision = fc.constantFrom(...protocolRevisions.map(({ date }) => date));
const id = fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger());
const key = fc.oneof(
  fc.constantFrom("jsonrpc", "id", "method", "params", "_meta", "name", "__proto__"),
  fc.string(),
);
const jsonObject = fc.dictionary(key, fc.jsonValue(), { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;

/** Messages that are right, as a place to start from. */
const rightMessages: readonly JsonObject[] = [
  initializeRequest(1, "2025-06-18"),
  modernRequest(1, "server/discover"),
  ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map((method) =>
    modernRequest("a", method, { cursor: "x" }),
  ),
  modernRequest(2, "tools/call", { name: "echo", arguments: { a: [1, { b: null }] } }),
  modernRequest(3, "prompts/get", { name: "greet", arguments: { who: "you" } }),
  modernRequest(4, "resources/read", { uri: "item:///7" }),
  modernRequest(5, "completion/complete", {
    ref: { type: "ref/resource", uri: "item:///{id}" },
    argument: { name: "id", value: "" },
    context: { arguments: {} },
  }),
  modernRequest(6, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
  modernRequest(
    7,
    "clock/now",
    {},
    { "io.modelcontextprotocol/clientCapabilities": { extensions: { "com.example/clock": {} } } },
  ),
  { jsonrpc: "2.0", id: 8, method: "logging/setLevel", params: { level: "debug" } },
  { jsonrpc: "2.0", id: 9, method: "resources/subscribe", params: { uri: "test://a" } },
  { jsonrpc: "2.0", id: 10, method: "tools/call", params: { name: "echo", arguments: {} } },
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "no" } },
  { jsonrpc: "2.0", id: 11, result: {} },
];

/** One value somewhere inside a message replaced by another one, or taken away. */
const mutated = fc
  .tuple(
    fc.constantFrom(...rightMessages),
    fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
    fc.option(fc.jsonValue()),
  )
  .map(([message, path, replacement]) => mutate(structuredClone(message), path, replacement));

function mutate(root: JsonObject, path: readonly number[], replacement: unknown): unknown {
  let node = root as Record<string, unknown>;
  for (const [step, choice] of path.entries()) {
    const keys = Object.keys(node);
    const chosen = keys[choice % Math.max(keys.length, 1)];
    if (chosen === undefined) break;
    const child = node[chosen];
    const goesOn = step < path.length - 1 && typeof child === "object" && child !== null;
    if (goesOn) {
      node = child as Record<string, unknown>;
      continue;
    }
    if (replacement === null) delete node[chosen];
    else node[chosen] = replacement;
    break;
  }
  return root;
}

/** The text of a message with a few characters changed. */
const damaged = fc
  .tuple(
    fc.constantFrom(...rightMessages),
    fc.array(fc.tuple(fc.nat(), fc.string({ maxLength: 3 })), { maxLength: 4 }),
  )
  .map(([message, edits]) => {
    let text = JSON.stringify(message);
    for (const [at, insert] of edits) {
      const place = at % text.length;
      text = text.slice(0, place) + insert + text.slice(place + 1);
    }
    return text;
  });

const nested = fc
  .tuple(fc.nat(2000), fc.constantFrom("[", '{"a":', '[{"a":'), fc.boolean())
  .map(([levels, open, closed]) => {
    const close = [...open.replace(/"a":/g, "")].toReversed().map((bracket) => (bracket === "[" ? "]" : "}"));
    return open.repeat(levels) + "1" + (closed ? close.join("").repeat(levels) : "");
  });

const runs = { numRuns: 400 };

describe("handleRaw never throws, and answers with valid JSON-RPC or nothing", () => {
  const kinds: [string, fc.Arbitrary<string>][] = [
    ["any text", fc.string({ unit: "binary", maxLength: 200 })],
    ["any JSON value", fc.json({ depthSize: "medium" })],
    [
      "any object with the keys of a message",
      jsonObject.map((value) => JSON.stringify({ jsonrpc: "2.0", ...value })),
    ],
    ["any array of such", fc.array(jsonObject, { maxLength: 5 }).map((value) => JSON.stringify(value))],
    ["a right message with one value wrong", mutated.map((value) => JSON.stringify(value))],
    ["a right message with characters changed", damaged],
    [
      "a batch of right and wrong messages",
      fc.array(mutated, { maxLength: 4 }).map((value) => JSON.stringify(value)),
    ],
    ["deep nesting, closed or not", nested],
  ];

  test.each(kinds)(
    "for %s [BASE-JSONRPC-2, BASE-RESP-XOR, BASE-RESULT-FIELD, BASE-ERR-SHAPE, BASE-ERR-STANDARD-CODES, BASE-ERR-MCP-RANGE-UNDEFINED, BASE-ERR-LEGACY-RANGE-NEW, BASE-ERR-32002-NOT-EMIT, BASE-ERR-32042-NOT-EMIT]",
    async (_, texts) => {
      await fc.assert(fc.asyncProperty(texts, revision, expectWellBehaved), runs);
    },
  );
});

describe("ids and notifications", () => {
  test("any id comes back exactly, with a result or with an error [BASE-RESP-ID-ECHO, BASE-REQ-ID-TYPE]", async () => {
    const methods = fc.constantFrom(
      "tools/list",
      "tools/call",
      "no/such/method",
      "initialize",
      "server/discover",
    );
    await fc.assert(
      fc.asyncProperty(id, methods, revision, async (given, method, date) => {
        const peer = await rawPeer(server, date);
        expect((await peer.request(method, {}, given)).id).toBe(given);
      }),
      runs,
    );
  });

  test("no notification is answered, whatever it is called and carries [BASE-NOTIF-NO-REPLY]", async () => {
    const methods = fc.oneof(
      fc.string(),
      fc.constantFrom("tools/call", "initialize", "notifications/cancelled"),
    );
    await fc.assert(
      fc.asyncProperty(methods, jsonObject, revision, async (method, params, date) => {
        const peer = await rawPeer(server, date);
        expect(await peer.say({ jsonrpc: "2.0", method, params })).toBeUndefined();
      }),
      runs,
    );
  });

  test("an unknown method of any name is -32601 [BASE-ERR-STANDARD-CODES]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), revision, async (method, date) => {
        const peer = await rawPeer(server, date);
        expect(await peer.request(`x${method}`)).toMatchObject({ id: 1, error: { code: -32601 } });
      }),
      runs,
    );
  });
});

describe("handle and handleRaw", () => {
  test("agree on every single message", async () => {
    const messages = fc.oneof(mutated, jsonObject, fc.jsonValue()).filter((value) => !Array.isArray(value));
    await fc.assert(
      fc.asyncProperty(messages, revision, async (message, date) => {
        const text = JSON.stringify(message);
        const viaText = await (await rawPeer(server, date)).sayText(text);
        const { connection } = await rawPeer(server, date);
        const response = await server.handle(JSON.parse(text) as RpcMessage, { connection });
        expect(response && JSON.parse(JSON.stringify(response))).toEqual(viaText);
      }),
      runs,
    );
  });

  test("an argument of any JSON value reaches the handler and comes back as it was", async () => {
    await fc.assert(
      fc.asyncProperty(jsonObject, revision, async (args, date) => {
        const peer = await rawPeer(server, date);
        const { result } = await peer.request("tools/call", { name: "echo", arguments: args });
        const [block] = (result?.["content"] ?? []) as { text: string }[];
        expect(JSON.parse(block?.text ?? "")).toEqual(JSON.parse(JSON.stringify(args)));
      }),
      runs,
    );
  });

  test("handleRaw needs no exchange: each text stands alone", async () => {
    const [older = ""] = legacyDates;
    expect(
      JSON.parse((await server.handleRaw(JSON.stringify(initializeRequest(1, older)))) ?? ""),
    ).toMatchObject({
      result: { protocolVersion: older },
    });
    expect(
      JSON.parse((await server.handleRaw('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')) ?? ""),
    ).toMatchObject({
      error: { code: -32600 },
    });
    const call = JSON.stringify(modernRequest(1, "tools/call", { name: "none" }));
    expect(JSON.parse((await server.handleRaw(call)) ?? "")).toMatchObject({
      result: { content: [{ text: "none" }] },
    });
  });

  test("two connections of one server never see each other, whatever arrives in what order", async () => {
    const step = fc.tuple(fc.nat(2), fc.constantFrom(...legacyDates));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        const peers = [0, 1, 2].map(() => new RawPeer(server, "", new Connection({ transport: "test" })));
        const agreed = new Map<number, string>();
        for (const [at, date] of steps) {
          const answer = await peers[at]?.say(initializeRequest(1, date));
          if (agreed.has(at)) expect(answer).toMatchObject({ error: { code: -32600 } });
          else expect(answer).toMatchObject({ result: { protocolVersion: date } });
          agreed.set(at, agreed.get(at) ?? date);
        }
        for (const [at, peer] of peers.entries()) expect(peer.connection.revision?.date).toBe(agreed.get(at));
      }),
      { numRuns: 100 },
    );
  });
});

describe("stdio", () => {
  test("takes UTF-8 however it is cut into chunks, and writes whole lines of UTF-8 [BASE-UTF8]", async () => {
    const words = fc.array(fc.string({ unit: "binary", maxLength: 10 }), { minLength: 1, maxLength: 5 });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 });
    const lineEnds = fc.constantFrom("\n", "\r\n", "\n\n");
    await fc.assert(
      fc.asyncProperty(words, cuts, lineEnds, async (given, sizes, lineEnd) => {
        const messages = given.map((word, at) =>
          modernRequest(at, "tools/call", { name: "echo", arguments: { word, _meta: modernMeta() } }),
        );
        const answers = await serveBytes(
          messages.map((message) => JSON.stringify(message) + lineEnd).join(""),
          sizes,
        );
        const echoed = answers.map(
          ({ result }) => JSON.parse(result.content[0]?.text ?? "") as { word: string },
        );
        expect(echoed.map(({ word }) => word).toSorted()).toEqual(given.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});

interface EchoAnswer {
  readonly result: { readonly content: readonly { readonly text: string }[] };
}

/** Feeds the bytes of `text` in chunks of the given sizes, over and over, and returns what was written. */
async function serveBytes(text: string, sizes: readonly number[]): Promise<EchoAnswer[]> {
  const input = new PassThrough();
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on("data", (chunk: Buffer) => chunks.push(chunk));
  const stdio = await serveStdio(server, { input, output, graceMs: 1000 });
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    input.write(bytes.subarray(at, at + size));
    at += size;
  }
  input.end();
  await stdio.closed;
  const written = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  expect(written.endsWith("\n")).toBe(true);
  return written
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as EchoAnswer);
}
