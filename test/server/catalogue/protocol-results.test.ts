// Handlers that return results in the form of the protocol: accepted ones, refused ones, and where the reason appears.
import { pathToFileURL } from "node:url";
import { type McpServer, result, text } from "halyard";
import { connect, RpcRejection } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { call, heard, makeServer, open, refusal, textOf } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { copyPackage } from "../../support/package-copy.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";

const output = z.object({ rows: z.number() });

describeMatrix("a tool that returns a protocol result", {}, (cell) => {
  const hasStructured = cell.revision >= "2025-06-18";

  test("sends its content, structured content, error and _meta, without output", async () => {
    const { server } = makeServer();
    server.tool("full", {}, () => ({
      content: [{ type: "text", text: "3 rows" }],
      structuredContent: { rows: 3 },
      _meta: { "example.com/trace": "t" },
    }));
    server.tool("failed", {}, async () => ({ content: [text("No")], isError: true }));
    const client = await open(cell, server);
    const full = await call(client, "full");
    expect(full.content).toEqual([text("3 rows")]);
    expect(full.structuredContent).toEqual(hasStructured ? { rows: 3 } : undefined);
    expect(full._meta).toMatchObject({ "example.com/trace": "t" });
    expect(full.isError).toBeUndefined();
    expect(await call(client, "failed")).toMatchObject({ content: [text("No")], isError: true });
  });

  test("with output, structuredContent is what is checked and sent", async () => {
    const { server, log } = makeServer();
    server.tool("count", { output }, () => ({
      content: [text("3 rows")],
      structuredContent: { rows: 3, more: true },
    }));
    server.tool("bare", { output }, () => ({ structuredContent: { rows: 3 } }) as never);
    server.tool("failed", { output }, () => ({ content: [text("No")], isError: true }));
    const client = await open(cell, server);
    const counted = await call(client, "count");
    expect(textOf(counted)).toBe("3 rows");
    expect(counted.structuredContent).toEqual(hasStructured ? { rows: 3 } : undefined);
    expect(textOf(await call(client, "bare"))).toBe('{"rows":3}');
    expect(await call(client, "failed")).toMatchObject({ content: [text("No")], isError: true });
    expect(log).toEqual([]);
  });

  test("an empty content beside structured content becomes its text, as when content is left out", async () => {
    const { server } = makeServer();
    server.tool("plain", {}, () => ({ content: [], structuredContent: { rows: 3 } }));
    server.tool("output", { output }, () => ({ content: [], structuredContent: { rows: 3 } }));
    server.tool("helper", { output }, () => result({ content: [], structured: { rows: 3 } }));
    server.tool("failed", {}, () => ({ content: [], structuredContent: { rows: 3 }, isError: true }));
    server.tool("empty", {}, () => ({ content: [] }));
    const client = await open(cell, server);
    for (const name of ["plain", "output", "helper", "failed"]) {
      const answer = await call(client, name);
      expect(textOf(answer)).toBe('{"rows":3}');
      expect(answer.structuredContent).toEqual(hasStructured ? { rows: 3 } : undefined);
    }
    expect((await call(client, "empty")).content).toEqual([]);
  });

  test("with output, a result without structuredContent that is no error is refused", async () => {
    const { server, log } = makeServer();
    const json = { type: "object" };
    server.tool("zod", { output }, () => ({ content: [text("3 rows")] }));
    server.tool("json", { output: json }, () => ({ content: [text("3 rows")] }));
    server.tool("helper", { output: json }, () => result({ content: "3 rows" }));
    server.tool("wrong", { output: json }, () => ({ content: [text("x")], structuredContent: ["x"] }));
    const client = await open(cell, server);
    for (const name of ["zod", "json", "helper"]) {
      expect((await refusal(call(client, name))).code).toBe(-32603);
      expect(String(log.at(-1)?.details?.["error"])).toContain(`Tool ${name} `);
      expect(String(log.at(-1)?.details?.["error"])).toContain("structuredContent is missing");
    }
    expect((await refusal(call(client, "wrong"))).code).toBe(-32603);
    expect(heard(client)).not.toContain("3 rows");
  });

  test("where the output schema declares content, an object that has it is the value; result() is for the rest", async () => {
    const { server, log } = makeServer();
    const page = z.object({ content: z.array(z.object({ line: z.string() })) });
    const value = { content: [{ line: "a" }] };
    server.tool("value", { output: page }, () => value);
    server.tool("helper", { output: page }, () => result({ content: "1 line", structured: value }));
    server.tool("full", { output: page }, () => ({ content: [text("1 line")], structuredContent: value }));
    server.tool("doubtful", { output: page }, () => ({ content: [text("1 line")] }));
    server.tool("union", { output: z.union([page, z.object({ structuredContent: z.number() })]) }, () => ({
      structuredContent: 1,
    }));
    const client = await open(cell, server);
    expect(JSON.parse(textOf(await call(client, "value")))).toEqual(value);
    expect(JSON.parse(textOf(await call(client, "union")))).toEqual({ structuredContent: 1 });
    for (const name of ["helper", "full"]) {
      const answer = await call(client, name);
      expect(textOf(answer)).toBe("1 line");
      expect(answer.structuredContent).toEqual(hasStructured ? value : undefined);
    }
    expect((await refusal(call(client, "doubtful"))).code).toBe(-32603);
    expect(String(log.at(-1)?.details?.["error"])).toContain("return result({ … })");
  });
});

describeMatrix("prompts and resources that return a protocol result", {}, (cell) => {
  test("a prompt sends its messages, description and _meta", async () => {
    const { server } = makeServer();
    server.prompt("p", { description: "D" }, () => ({
      description: "Other",
      messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
      _meta: { "example.com/k": 1 },
    }));
    expect(await (await open(cell, server)).request("prompts/get", { name: "p" })).toMatchObject({
      description: "Other",
      messages: [{ role: "user", content: text("Hi") }],
      _meta: { "example.com/k": 1 },
    });
  });

  test("a resource sends its contents and _meta, and may be empty", async () => {
    const { server } = makeServer();
    const contents = [{ uri: "a:b", text: "A" }];
    server.resource("a:b", {}, () => ({ contents, _meta: { "example.com/k": 1 } }));
    server.resourceTemplate("c:{d}", {}, () => ({ contents: [] }));
    const client = await open(cell, server);
    expect(await client.request("resources/read", { uri: "a:b" })).toMatchObject({
      contents,
      _meta: { "example.com/k": 1 },
    });
    expect((await client.request("resources/read", { uri: "c:x" }))["contents"]).toEqual([]);
  });
});

describeMatrix("results are open", {}, (cell) => {
  const isModern = cell.revision >= "2026";

  test("what the protocol does not name is sent as it is, and what is undefined is not there", async () => {
    allowBeyondSchema("example.com/cost: unknown key", "traceId: unknown key");
    const { server, log } = makeServer();
    const more = { "example.com/cost": 3, traceId: "t", none: undefined };
    server.tool("plain", {}, () => ({ content: [text("x")], ...more }));
    server.tool("count", { output }, () => ({ content: [], structuredContent: { rows: 3 }, ...more }));
    server.tool("seen", {}, () => "x");
    server.prompt("p", {}, () => ({ messages: [], ...more }));
    server.resource("a:b", {}, () => ({ contents: [], ...more }));
    server.use("tools/call", async (request, _, next) =>
      request.params.name === "seen" ? { ...(await next()), traceId: "m" } : next(),
    );
    const client = await open(cell, server);
    const sent = { "example.com/cost": 3, traceId: "t" };
    expect(await call(client, "plain")).toMatchObject({ content: [text("x")], ...sent });
    expect(await call(client, "count")).toMatchObject({ content: [text('{"rows":3}')], ...sent });
    expect(await call(client, "seen")).toMatchObject({ content: [text("x")], traceId: "m" });
    expect(await client.request("prompts/get", { name: "p" })).toMatchObject({ messages: [], ...sent });
    expect(await client.request("resources/read", { uri: "a:b" })).toMatchObject({ contents: [], ...sent });
    expect(log).toEqual([]);
  });

  test("a result that another server has sent may be passed on", async () => {
    const { server, log } = makeServer();
    const stamps = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" };
    server.tool("t", {}, () => ({ content: [text("x")], ...stamps }));
    server.prompt("p", { description: "Own" }, () => ({ messages: [], description: undefined, ...stamps }));
    server.resource("a:b", {}, () => ({ contents: [], ...stamps }));
    const client = await open(cell, server);
    const results = [
      await call(client, "t"),
      await client.request("prompts/get", { name: "p" }),
      await client.request("resources/read", { uri: "a:b" }),
    ] as Record<string, unknown>[];
    for (const each of results) expect(each["resultType"]).toBe(isModern ? "complete" : undefined);
    expect(results[1]?.["description"]).toBe("Own");
    // How long it may be kept is for this server to say.
    expect(results[2]?.["ttlMs"]).toBe(isModern ? 0 : undefined);
    expect(log).toEqual([]);
  });
});

type Mistake = [title: string, returned: unknown, problem: string | RegExp];

const blocks: Mistake[] = [
  ["text without text", { type: "text" }, "text is missing"],
  ["text of a number", { type: "text", text: 5 }, "text must be of type string, not a number"],
  ["an image without its type", { type: "image", data: "" }, "mimeType is missing"],
  ["sound without data", { type: "audio", mimeType: "audio/wav" }, "data is missing"],
  ["a link without a name", { type: "resource_link", uri: "a:b" }, "name is missing"],
  ["a resource without one", { type: "resource" }, "resource is missing"],
  ["a resource of a string", { type: "resource", resource: "a:b" }, "resource must be of type object"],
  ["a resource without a uri", { type: "resource", resource: { text: "" } }, "resource.uri is missing"],
  ["a resource of nothing", { type: "resource", resource: { uri: "a:b" } }, "must have either text or blob"],
  ["another type", { type: "video", data: "" }, "type must be one of text, image"],
  ["the name of a built-in", { type: "constructor" }, "type must be one of text, image"],
  [
    "annotations of a string",
    { type: "text", text: "", annotations: "user" },
    "annotations must be of type object",
  ],
  ["_meta of a list", { type: "text", text: "", _meta: [] }, "_meta must be of type object"],
];

const tools: Mistake[] = [
  ...blocks.map(([title, block, problem]): Mistake => [title, block, problem]),
  ...blocks.map(([title, block, problem]): Mistake => [
    `${title}, in content`,
    { content: [text("a"), block] },
    problem,
  ]),
  ["a list of a string", ["a"], 'content[0] must be a content block, such as text("Hello"), not a string'],
  [
    "null in content",
    { content: [null] },
    'content[0] must be a content block, such as text("Hello"), not null',
  ],
  ["content that is text", { content: "text" }, "content must be an array of content blocks, not a string"],
  ["an error that is text", { content: [], isError: "yes" }, "isError must be of type boolean"],
  ["_meta that is text", { content: [], _meta: "x" }, "_meta must be of type object"],
  ["a field mistyped", { content: [], structuredcontent: {} }, "did you mean structuredContent?"],
  ["a field in the writing of elsewhere", { content: [], is_error: true }, "did you mean isError?"],
  ["a field of result()", { content: [], meta: {} }, "did you mean _meta?"],
  ["questions", { content: [], resultType: "input_required" }, "return inputRequired({ … }) to ask"],
  ["a value", { celsius: 21 }, "it is an object with celsius: return a string, content blocks"],
  ["a number", 5, "it is a number"],
  ["null", null, "it is null"],
  [
    "what goes into result()",
    { content: "x", structured: { a: 1 } },
    "structured is an argument of result({ … })",
  ],
  ["what result() looks like", { content: [], structured: 1, isError: false }, "structured is not a field"],
];

const prompts: Mistake[] = [
  ["an empty message", { messages: [{}] }, 'messages[0].role must be "user" or "assistant", not undefined'],
  ["an empty message in a list", [{}], "messages[0].role"],
  [
    "a message without content",
    { messages: [{ role: "user" }] },
    "messages[0].content must be a content block",
  ],
  [
    "content that is text",
    [{ role: "user", content: "Hi" }],
    'messages[0].content must be a content block, such as text("Hello"), not a string',
  ],
  ["a role of another kind", [{ role: "system", content: text("x") }], "messages[0].role"],
  ["messages that are none", { messages: "Hi" }, "messages must be an array"],
  ["a description of a number", { messages: [], description: 1 }, "description must be of type string"],
  ["a field of another kind", { messages: [], content: [] }, "content is not a field of the result"],
  ["nothing", undefined, "it is undefined"],
  ["a block without its fields", { type: "text" }, "messages[0].content.text is missing"],
];

const resources: Mistake[] = [
  ["contents without a uri", { contents: [{ text: "" }] }, "contents[0].uri is missing"],
  ["contents without text", [{ uri: "a:b" }], "contents[0] must have either text or blob"],
  ["contents with both", { uri: "a:b", text: "", blob: "" }, "contents[0] must have either text or blob"],
  ["contents of an object", { contents: {} }, "contents must be an array"],
  [
    "a blob of bytes",
    { uri: "a:b", blob: new Uint8Array() },
    "contents[0].blob is bytes: return the Uint8Array itself, or encode them as base64",
  ],
  ["an empty list", [], "it is an array"],
  ["nothing", undefined, "it is undefined"],
  ["a field of another kind", { contents: [], mimeType: "" }, "mimeType is not a field of the result"],
];

/** A kind of definition. `register` adds one that returns `returned`, and returns the request for it. */
type Kind = [
  noun: string,
  register: (server: McpServer, returned: unknown) => [method: string, params: object],
];

const kinds: [...Kind, mistakes: Mistake[]][] = [
  [
    "Tool",
    (server, returned) => (
      server.tool("odd", {}, (() => returned) as never),
      ["tools/call", { name: "odd" }]
    ),
    tools,
  ],
  [
    "Prompt",
    (server, returned) => (
      server.prompt("odd", {}, (() => returned) as never),
      ["prompts/get", { name: "odd" }]
    ),
    prompts,
  ],
  [
    "Resource",
    (server, returned) => (
      server.resource("odd:x", {}, (() => returned) as never),
      ["resources/read", { uri: "odd:x" }]
    ),
    resources,
  ],
];

describeMatrix("what cannot be sent", { transports: ["memory", "http"] }, (cell) => {
  for (const [noun, register, mistakes] of kinds) {
    test.each(mistakes)(
      `${noun}: %s is refused with an id, and the log names it and the field`,
      async (_, returned, problem) => {
        const { server, log } = makeServer();
        const [method, params] = register(server, returned);
        const client = await open(cell, server);
        const error = await refusal(client.request(method, params as never));
        expect(error.code).toBe(-32603);
        const { errorId } = error.data as { errorId: string };
        expect(error.message).toMatch(new RegExp(`^${noun} odd\\S* returned .*\\(error id ${errorId}\\)$`));
        expect(log).toHaveLength(1);
        const logged = log[0]?.details?.["error"] as Error;
        expect(logged).toBeInstanceOf(TypeError);
        expect(logged.message).toMatch(new RegExp(`^${noun} odd`));
        expect(logged.message).toContain(problem);
        // The test kit runs both ends in one process, so the author of the handler reads the reason there.
        if (cell.transport === "memory") expect(error.cause).toBe(logged);
      },
    );
  }

  test.each<[string, object]>([
    ["tools/call", { content: [{ type: "text" }] }],
    ["tools/call", {}],
    ["prompts/get", { messages: [{}] }],
    ["resources/read", { contents: [{}] }],
  ])("%s: what middleware returns is looked at as well", async (method, returned) => {
    const { server, log } = makeServer();
    server.tool("t", {}, () => "");
    server.prompt("t", {}, () => "");
    server.resource("t:t", {}, () => "");
    server.use(method as "tools/call", () => returned as never);
    const client = await open(cell, server);
    const params = method === "resources/read" ? { uri: "t:t" } : { name: "t" };
    expect((await refusal(client.request(method, params))).code).toBe(-32603);
    expect(log).toHaveLength(1);
  });
});

describe("the test kit", () => {
  test("shows the author what the client is not told", async () => {
    const { server } = makeServer();
    server.tool("count", { output }, () => ({ rows: "three" }) as never);
    server.prompt("broken", {}, () => {
      throw new RangeError("Inside");
    });
    const client = await connect(server, { revision: "2026-07-28" });
    const mismatch: unknown = await call(client, "count").catch((error: unknown) => error);
    expect(mismatch).toBeInstanceOf(RpcRejection);
    expect((mismatch as Error).message).not.toContain("rows");
    expect(String((mismatch as Error).cause)).toMatch(/Tool count .*rows/);
    expect(await refusal(client.request("prompts/get", { name: "broken" }))).toMatchObject({
      cause: new RangeError("Inside"),
    });
    expect((await refusal(client.request("tools/call", { name: "nope" }))).cause).toBeUndefined();
    await client.close();
  });
});

describe("another copy of the package", () => {
  test("makes results that this one takes", async () => {
    const other = await copyPackage();
    onTestFinished(() => other.remove());
    const copy = (await import(pathToFileURL(other.resolve("halyard")).href)) as typeof import("halyard");
    expect(copy.result).not.toBe(result);
    const { server } = makeServer();
    server.tool("plain", {}, () => copy.result({ content: "x", isError: true }));
    server.tool("count", { output: { type: "object" } }, () => copy.result({ structured: { rows: 3 } }));
    const client = await connect(server, { revision: "2026-07-28" });
    expect(await call(client, "plain")).toMatchObject({ content: [text("x")], isError: true });
    expect((await call(client, "count")).structuredContent).toEqual({ rows: 3 });
    await client.close();
  });
});
