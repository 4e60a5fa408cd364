// Names and values that are legal JSON and hard on JavaScript: they are data, and come back as they came.
import { McpServer, ConfigurationError } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { recordingLogger } from "../../support/log.ts";
import { cells, describeMatrix } from "../../support/matrix.ts";
import { metaKeys, modernMeta, newestModern, rawPeer, RawPeer } from "../../support/raw.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";

/** Names that every object inherits. */
const inherited = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", "__defineGetter__"];

const any = { type: "object" } as const;

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("echo", { input: any, output: any }, (args) => args);
  server.prompt("echo", { arguments: { type: "object", properties: { word: { type: "string" } } } }, (args) =>
    JSON.stringify(args),
  );
  server.resource("test://a", {}, () => "a");
  server.completion(({ argument }) => [argument.value]);
  return server;
}

/** A request as text, so that keys such as __proto__ reach the wire. */
function requestText(revision: string, method: string, members: string): string {
  const meta = revision === newestModern ? `,"_meta":${JSON.stringify(modernMeta())}` : "";
  return `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":{${members}${meta}}}`;
}

describe.each(cells({ transports: ["memory"] }))(
  "inherited names that are not registered · $revision",
  ({ revision }) => {
    test.each(inherited)("%s is no method", async (name) => {
      const peer = await rawPeer(makeServer(), revision);
      expect(await peer.request(name)).toMatchObject({ id: 1, error: { code: -32601 } });
    });

    test.each(inherited)(
      "%s is no tool, no prompt, no argument to complete and no resource",
      async (name) => {
        const peer = await rawPeer(makeServer(), revision);
        const isUnknown = { error: { code: -32602 } };
        expect(await peer.request("tools/call", { name })).toMatchObject(isUnknown);
        expect(await peer.request("prompts/get", { name })).toMatchObject(isUnknown);
        expect(await peer.request("resources/read", { uri: name })).toMatchObject(isUnknown);
        const complete = { ref: { type: "ref/prompt", name }, argument: { name: "word", value: "" } };
        expect(await peer.request("completion/complete", complete)).toMatchObject(isUnknown);
      },
    );

    test.each(inherited)("%s as the name of an argument completes to nothing", async (name) => {
      const server = new McpServer({ name: "test", version: "1.0.0" });
      const properties = { word: { type: "string" } };
      server.prompt(
        "p",
        { arguments: { type: "object", properties }, complete: { word: () => ["w"] } },
        () => "",
      );
      const peer = await rawPeer(server, revision);
      const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name, value: "" } };
      expect(await peer.request("completion/complete", params)).toMatchObject({
        result: { completion: { values: [] } },
      });
    });
  },
);

describe.each(cells({ transports: ["memory"] }))(
  "inherited names that were registered · $revision",
  ({ revision }) => {
    test.each(inherited)("%s can be a tool and a prompt", async (name) => {
      const server = new McpServer({ name: "test", version: "1.0.0" });
      server.tool(name, {}, () => `tool ${name}`);
      server.prompt(name, {}, () => `prompt ${name}`);
      const peer = await rawPeer(server, revision);
      expect(await peer.request("tools/list")).toMatchObject({ result: { tools: [{ name }] } });
      expect(await peer.request("tools/call", { name })).toMatchObject({
        result: { content: [{ text: `tool ${name}` }] },
      });
      expect(await peer.request("prompts/get", { name })).toMatchObject({
        result: { messages: [{ content: { text: `prompt ${name}` } }] },
      });
    });

    test.each(inherited)(
      "%s can be the whole of a resource's path and of a template's variable",
      async (name) => {
        const server = new McpServer({ name: "test", version: "1.0.0" });
        server.resource(`test:${name}`, {}, ({ uri }) => uri);
        server.resourceTemplate("item:///{key}", {}, ({ params }) => `key ${params.key}`);
        const peer = await rawPeer(server, revision);
        const read = (uri: string): Promise<unknown> => peer.request("resources/read", { uri });
        expect(await read(`test:${name}`)).toMatchObject({
          result: { contents: [{ text: `test:${name}` }] },
        });
        expect(await read(`item:///${name}`)).toMatchObject({
          result: { contents: [{ text: `key ${name}` }] },
        });
      },
    );

    test.each(inherited)("%s can be a required argument: it is missed when it is not there", async (name) => {
      const properties = Object.fromEntries([[name, { type: "string" }]]);
      const input = { type: "object", properties, required: [name], additionalProperties: false };
      const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
      server.tool("take", { input }, (args) => `own ${Object.hasOwn(args, name)}`);
      const peer = await rawPeer(server, revision);
      const given = requestText(
        revision,
        "tools/call",
        `"name":"take","arguments":{${JSON.stringify(name)}:"x"}`,
      );
      expect(await peer.sayText(given)).toMatchObject({ result: { content: [{ text: "own true" }] } });
      const { result, error } = await peer.request("tools/call", { name: "take", arguments: {} });
      expect(result?.["isError"] ?? error?.code).toBe(revision < "2025-11-25" ? -32602 : true);
    });

    test.each(inherited)(
      "%s can be an optional argument: what is inherited is not validated in its place",
      async (name) => {
        const properties = Object.fromEntries([[name, { type: "string" }]]);
        const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
        server.tool("take", { input: { type: "object", properties } }, () => "taken");
        const peer = await rawPeer(server, revision);
        expect(await peer.request("tools/call", { name: "take", arguments: {} })).toMatchObject({
          result: { content: [{ text: "taken" }] },
        });
      },
    );
  },
);

describe.each(cells({ transports: ["memory"] }))("keys of arguments · $revision", ({ revision }) => {
  test.each(inherited)("%s as an argument nobody declared is refused where none may be", async (name) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("take", { input: { type: "object", additionalProperties: false } }, () => "taken");
    const peer = await rawPeer(server, revision);
    const text = requestText(
      revision,
      "tools/call",
      `"name":"take","arguments":{${JSON.stringify(name)}:{"a":1}}`,
    );
    const answer = await peer.sayText(text);
    expect(answer?.result?.["isError"] ?? answer?.error?.code).toBe(revision < "2025-11-25" ? -32602 : true);
  });

  test("__proto__ in arguments, params, _meta and the message itself changes no prototype", async () => {
    const server = makeServer();
    server.tool("look", { input: any }, (args, ctx) =>
      JSON.stringify({
        prototype: Object.getPrototypeOf(args) === Object.prototype,
        polluted: (args as { polluted?: unknown }).polluted ?? null,
        meta: (ctx.meta as { polluted?: unknown }).polluted ?? null,
        anywhere: ({} as { polluted?: unknown }).polluted ?? null,
      }),
    );
    const peer = await rawPeer(server, revision);
    const poison = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
    const meta = JSON.stringify(modernMeta()).replace(/^\{/, `{${poison},`);
    const text =
      `{${poison},"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${poison},"name":"look",` +
      `"arguments":{${poison}},"_meta":${revision === newestModern ? meta : `{${poison}}`}}}`;
    const answer = await peer.sayText(text);
    const [block] = (answer?.result?.["content"] ?? []) as { text: string }[];
    expect(JSON.parse(block?.text ?? "")).toEqual({
      prototype: true,
      polluted: null,
      meta: null,
      anywhere: null,
    });
  });

  test("a message cannot borrow its members from a __proto__ of its own", async () => {
    const peer = await rawPeer(makeServer(), revision);
    const text = '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}';
    expect(await peer.sayText(text)).toMatchObject({ error: { code: -32600 } });
    const named = requestText(revision, "tools/call", '"__proto__":{"name":"echo"}');
    expect(await peer.sayText(named)).toMatchObject({ error: { code: -32602 } });
  });
});

describe("inherited names in what a modern client says of itself", () => {
  test("capabilities in a __proto__ are not declared", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("ask", { requires: { sampling: {} } }, () => "asked");
    server.tool("odd", { requires: { experimental: { toString: {} } } }, () => "odd");
    const peer = new RawPeer(server, newestModern);
    const call = (name: string, capabilities: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","_meta":` +
      `{"${metaKeys.protocolVersion}":"${newestModern}","${metaKeys.clientCapabilities}":${capabilities}}}}`;
    expect(await peer.sayText(call("ask", '{"__proto__":{"sampling":{}}}'))).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    expect(await peer.sayText(call("odd", "{}"))).toMatchObject({ error: { code: -32021 } });
    expect(await peer.sayText(call("ask", '{"sampling":{}}'))).toMatchObject({ result: {} });
  });

  test("an extension in a __proto__ is not declared", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.extension("com.example/clock", { requests: { "clock/now": () => ({ now: 0 }) } });
    const peer = new RawPeer(server, newestModern);
    const extensions = '{"extensions":{"__proto__":{"com.example/clock":{}}}}';
    const text =
      `{"jsonrpc":"2.0","id":1,"method":"clock/now","params":{"_meta":` +
      `{"${metaKeys.protocolVersion}":"${newestModern}","${metaKeys.clientCapabilities}":${extensions}}}}`;
    expect(await peer.sayText(text)).toMatchObject({ error: { code: -32021 } });
  });

  test.each(inherited)("%s is no identifier of an extension", (name) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    expect(() => server.extension(name)).toThrow(ConfigurationError);
  });

  test.each(inherited)("com.example/%s is treated like any other extension", async (name) => {
    allowBeyondSchema(`result of x/${name}`);
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const identifier = `com.example/${name.replaceAll("_", "")}`;
    server.extension(identifier, { requests: { [`x/${name}`]: () => ({ name }) } });
    const peer = new RawPeer(server, newestModern);
    const declared = { [metaKeys.clientCapabilities]: { extensions: { [identifier]: {} } } };
    expect(await peer.request(`x/${name}`, { _meta: declared })).toMatchObject({ result: { name } });
    expect(await peer.request(`x/${name}`)).toMatchObject({ error: { code: -32021 } });
  });
});

describeMatrix("strings", {}, (cell) => {
  test.each([
    ["a lone high surrogate", "\ud800"],
    ["a lone low surrogate", "\udfff"],
    ["surrogates the wrong way round", "\udc00\ud800"],
    ["a null character", "a\u0000b"],
    ["line ends of every kind", "a\nb\r\nc\u2028d\u2029e"],
    ["control characters", "\u0001\u001f\u007f\u0085"],
    ["quotes and backslashes", '"\\"\\\\/"'],
    ["a byte order mark", "\ufeffbom"],
    ["non-characters and the end of Unicode", "\uffff\ufffe\u{10ffff}"],
    ["text beyond ASCII", "é€𝄞日本語👩‍👩‍👧"],
  ])("%s comes back as it came [BASE-UTF8]", async (_, word) => {
    const client = await cell.connect(makeServer());
    const arguments_ = { word, [word]: [word] };
    const result = await client.request("tools/call", { name: "echo", arguments: arguments_ });
    const [block] = result["content"] as { text: string }[];
    expect(JSON.parse(block?.text ?? "")).toEqual(arguments_);
    const prompt = await client.request("prompts/get", { name: "echo", arguments: { word } });
    expect(prompt).toMatchObject({ messages: [{ content: { text: JSON.stringify({ word }) } }] });
    await client.close();
  });
});

describe.each(cells({ transports: ["memory"] }))("numbers · $revision", ({ revision }) => {
  test.each([
    ["9007199254740993", "9007199254740992"],
    ["1e400", "null"],
    ["-1e400", "null"],
    ["1e-400", "0"],
    ["-0", "0"],
    ["123456789012345678901234567890", "1.2345678901234568e+29"],
  ])(
    "the argument %s is what JSON.parse makes of it, and is answered in valid JSON as %s",
    async (given, echoed) => {
      const peer = await rawPeer(makeServer(), revision);
      const text = await peer.exact(
        requestText(revision, "tools/call", `"name":"echo","arguments":{"n":${given}}`),
      );
      const answer = JSON.parse(text ?? "") as { result: { content: { text: string }[] } };
      expect(answer.result.content[0]?.text).toBe(`{"n":${echoed}}`);
    },
  );

  test("a schema that wants a finite number refuses 1e400", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.tool("take", { input: z.object({ n: z.number() }) }, ({ n }) => String(n));
    const peer = await rawPeer(server, revision);
    const answer = await peer.sayText(
      requestText(revision, "tools/call", '"name":"take","arguments":{"n":1e400}'),
    );
    expect(answer?.result?.["isError"] ?? answer?.error?.code).toBe(revision < "2025-11-25" ? -32602 : true);
  });

  test.each(["1e400", "9007199254740993", "1.5", "null", "{}"])(
    "the progress token %s does no harm",
    async (token) => {
      const peer = await rawPeer(makeServer(), revision);
      const meta = JSON.stringify(revision === newestModern ? modernMeta() : {}).replace(/\}$/, "");
      const members = `${meta === "{" ? "" : ","}"progressToken":${token}}`;
      const text = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${meta}${members}}}`;
      expect(await peer.sayText(text)).toMatchObject({ id: 1, result: {} });
    },
  );
});

describe.each(cells({ transports: ["memory"] }))("values of the wrong kind · $revision", ({ revision }) => {
  const odd: unknown[] = [
    5,
    true,
    null,
    [],
    {},
    [["x"]],
    { toString: 1, valueOf: 1 },
    { toString: "x" },
    { length: -1 },
  ];

  test.each(odd)(
    "%j as a name, a uri, a cursor, a level or arguments is invalid params, never an internal error",
    async (value) => {
      const peer = await rawPeer(makeServer(), revision);
      const asked: [string, object][] = [
        ["tools/call", { name: value }],
        ["prompts/get", { name: value }],
        ["resources/read", { uri: value }],
        ["tools/list", { cursor: value }],
        ["completion/complete", { ref: value, argument: value }],
        [
          "completion/complete",
          { ref: { type: "ref/prompt", name: value }, argument: { name: "word", value: "" } },
        ],
      ];
      if (revision !== newestModern) asked.push(["logging/setLevel", { level: value }]);
      for (const [method, params] of asked) {
        const answer = await peer.request(method, { ...params });
        expect(answer, method).toMatchObject({ id: 1, error: { code: -32602 } });
      }
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
      if (isObject) return;
      const call = await peer.request("tools/call", { name: "echo", arguments: value });
      expect(call).toMatchObject({ error: { code: -32602 } });
    },
  );

  test.each(odd)("%j as _meta of a request is no reason to fail inside", async (value) => {
    const peer = await rawPeer(makeServer(), revision);
    const answer = await peer.say({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: value } });
    if (revision === newestModern) expect(answer).toMatchObject({ error: { code: -32600 } });
    else expect(answer).toMatchObject({ result: { tools: [{ name: "echo" }] } });
  });
});
