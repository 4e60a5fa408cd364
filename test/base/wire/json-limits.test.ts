// Limits on one message: bytes, depth and elements, applied before anything is parsed, validated or run.
import { PassThrough } from "node:stream";
import { ConfigurationError, McpServer, type ServerLimits } from "halyard";
import { serveStdio } from "halyard/stdio";
import { portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { cpuTime } from "../../support/cpu-time.ts";
import { cells, describeMatrix, pipes } from "../../support/matrix.ts";
import {
  type Answer,
  answersTo,
  initializeRequest,
  legacyDates,
  modernMeta,
  newestModern,
  rawPeer,
  RawPeer,
  unreadableId,
} from "../../support/raw.ts";
import { connectStdio, readLines } from "../../support/stdio.ts";

/** A server with one tool, whose schema and handler say how often they were asked. */
function countingServer(limits: Partial<ServerLimits>): { server: McpServer; asked: string[] } {
  const asked: string[] = [];
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits });
  const validate = (value: unknown): { value: object } => {
    asked.push("schema");
    return { value: value as object };
  };
  const jsonSchema = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };
  const input = { "~standard": { version: 1, vendor: "test", validate, jsonSchema } } as const;
  server.tool("take", { input }, () => {
    asked.push("handler");
    return "taken";
  });
  return { server, asked };
}

const callTake = (args: unknown): object => ({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "take", arguments: args, _meta: modernMeta() },
});

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** `[[[…]]]`, so many levels of it. */
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** A call whose arguments hold `text` verbatim. */
const callWith = (text: string): string => JSON.stringify(callTake({ deep: "@" })).replace('"@"', text);

describeMatrix("limits", { transports: pipes }, (cell) => {
  test("a message of more bytes than maxBytes is refused, and the next one is served", async () => {
    const { server, asked } = countingServer({ maxBytes: 1000 });
    const client = await cell.connect(server);
    const text = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { pad: "x".repeat(1000) },
    });
    const answers = await answersTo(client, text);
    expect(answers).toEqual([
      {
        jsonrpc: "2.0",
        ...unreadableId(cell.revision),
        error: { code: -32600, message: "The message is larger than 1000 bytes" },
      },
    ]);
    expect(asked).toEqual([]);
    await client.close();
  });

  test("a message that nests deeper than maxDepth is refused before schema and handler see it", async () => {
    const { server, asked } = countingServer({ maxDepth: 10 });
    const client = await cell.connect(server);
    const [answer] = await answersTo(client, callWith(nested(11)));
    expect(answer).toEqual({
      jsonrpc: "2.0",
      ...unreadableId(cell.revision),
      error: { code: -32600, message: "The message nests deeper than 10 levels" },
    });
    expect(asked).toEqual([]);
    await client.close();
  });

  test("a message with more elements than maxElements is refused before schema and handler see it", async () => {
    const { server, asked } = countingServer({ maxElements: 50 });
    const client = await cell.connect(server);
    const [answer] = await answersTo(client, callWith(JSON.stringify(Array.from({ length: 60 }, () => 1))));
    expect(answer).toEqual({
      jsonrpc: "2.0",
      ...unreadableId(cell.revision),
      error: { code: -32600, message: "The message holds more than 50 values" },
    });
    expect(asked).toEqual([]);
    await client.close();
  });
});

describe("limits are exact", () => {
  const text = JSON.stringify(callTake({ word: "é€𝄞" }));

  test.each([
    [bytesOf(text), "taken"],
    [bytesOf(text) - 1, "refused"],
  ])("maxBytes counts the bytes of UTF-8, not characters: %i is %s", async (maxBytes, outcome) => {
    const peer = new RawPeer(countingServer({ maxBytes }).server, newestModern);
    expect(text.length).toBeLessThan(bytesOf(text) - 1);
    expect(await peer.sayText(text)).toMatchObject(
      outcome === "taken" ? { id: 7, result: { content: [{ text: "taken" }] } } : { error: { code: -32600 } },
    );
  });

  test.each([
    ["arrays", (levels: number) => nested(levels)],
    ["objects", (levels: number) => '{"a":'.repeat(levels - 1) + "{}" + "}".repeat(levels - 1)],
    ["arrays between objects", (levels: number) => '{"a":['.repeat(levels / 2) + "]}".repeat(levels / 2)],
  ])("maxDepth counts %s", async (_, build) => {
    // The message, its params and the arguments are three levels of their own.
    const peer = new RawPeer(countingServer({ maxDepth: 23 }).server, newestModern);
    expect(await peer.sayText(callWith(build(20)))).toMatchObject({ result: {} });
    expect(await peer.sayText(callWith(build(22)))).toMatchObject({ error: { code: -32600 } });
  });

  test("brackets inside strings count for nothing, whatever is escaped around them", async () => {
    const peer = new RawPeer(countingServer({ maxDepth: 10, maxElements: 60 }).server, newestModern);
    for (const word of [
      "[".repeat(500),
      '"[{'.repeat(200),
      "\\".repeat(101) + "[".repeat(99),
      ",:".repeat(300),
    ]) {
      expect(await peer.say(callTake({ word }))).toMatchObject({ result: { content: [{ text: "taken" }] } });
    }
  });

  test.each(["1", '""', "{}"])("maxElements counts a flat list of %s, to the last one", async (value) => {
    const peer = new RawPeer(countingServer({ maxElements: 1000 }).server, newestModern);
    // The list is a value of its own.
    const list = (values: number): string => `[${Array.from({ length: values - 1 }, () => value).join()}]`;
    const tooFull = "The message holds more than 1000 values";
    const isPlain = value !== "{}";
    // An object in a list counts as itself and as the place that it takes.
    const most = isPlain ? 1000 : 500;
    expect((await peer.sayText(list(most)))?.error?.message).not.toBe(tooFull);
    expect(await peer.sayText(list(most + 1))).toMatchObject({ error: { code: -32600, message: tooFull } });
  });

  test("elements are counted over the whole message, not per array", async () => {
    const peer = new RawPeer(countingServer({ maxElements: 100 }).server, newestModern);
    const rows = (count: number): string => JSON.stringify(Array.from({ length: count }, () => [1, 2, 3]));
    expect(await peer.sayText(callWith(rows(18)))).toMatchObject({ result: {} });
    expect(await peer.sayText(callWith(rows(25)))).toMatchObject({ error: { code: -32600 } });
  });
});

describe("limits by default", () => {
  test("4 MiB, 64 levels, 100000 elements and 100 messages to a batch", () => {
    const { limits } = portOf(new McpServer({ name: "test", version: "1.0.0" }));
    expect(limits).toMatchObject({
      maxBytes: 4 * 1024 * 1024,
      maxDepth: 64,
      maxElements: 100_000,
      maxBatch: 100,
    });
  });

  test.each([
    ["a million open brackets", "[".repeat(1_000_000)],
    ["a million open objects", '{"a":'.repeat(800_000)],
    ["a long list", `[${"1,".repeat(500_000)}1]`],
  ])("%s cost no stack and little time", async (_, text) => {
    const peer = new RawPeer(countingServer({}).server, newestModern);
    const cost = await cpuTime(async () =>
      expect(await peer.sayText(text)).toMatchObject({ error: { code: -32600 } }),
    );
    expect(cost).toBeLessThan(1000);
  });

  test("a limit is looked at before the syntax: what is too deep is not called unreadable", async () => {
    const peer = new RawPeer(countingServer({}).server, newestModern);
    expect(await peer.sayText(`${"[".repeat(100)}!`)).toMatchObject({ error: { code: -32600 } });
    expect(await peer.sayText(`${"[".repeat(10)}!`)).toMatchObject({ error: { code: -32700 } });
  });

  test("a limit is looked at before the kind of message: a batch can be too deep", async () => {
    const peer = await rawPeer(countingServer({ maxDepth: 5 }).server, "2025-03-26");
    expect(await peer.sayText(nested(6))).toMatchObject({
      id: null,
      error: { code: -32600, message: "The message nests deeper than 5 levels" },
    });
  });
});

describe.each(cells({ transports: ["stdio"] }))("lines of stdio · $revision", ({ revision }) => {
  test("a line that does not end is refused as soon as it passes maxBytes, once, and skipped to its newline", async () => {
    const { server } = countingServer({ maxBytes: 1000 });
    const input = new PassThrough();
    const output = new PassThrough();
    const received: Answer[] = [];
    readLines(output, (line) => received.push(JSON.parse(line) as Answer));
    const stdio = await serveStdio(server, { input, output, graceMs: 1000 });
    const isLegacy = legacyDates.includes(revision);
    if (isLegacy) input.write(`${JSON.stringify(initializeRequest("i", revision))}\n`);
    const refusal = {
      jsonrpc: "2.0",
      ...unreadableId(revision),
      error: { code: -32600, message: "The message is larger than 1000 bytes" },
    };
    const refusals = (): Answer[] => received.filter(({ error }) => error?.code === -32600);
    for (let part = 0; part < 5; part++) input.write(" ".repeat(400));
    await expect.poll(refusals, { interval: 1 }).toEqual([refusal]);
    for (let part = 0; part < 5; part++) input.write("x".repeat(400));
    input.write(`\n${JSON.stringify(callTake({}))}\n`);
    input.end();
    await stdio.closed;
    expect(refusals()).toEqual([refusal]);
    expect(received.at(-1)).toMatchObject({ id: 7, result: { content: [{ text: "taken" }] } });
  });

  test("every line that is too long is refused for itself, between lines that are served", async () => {
    const client = await connectStdio(countingServer({ maxBytes: 1000 }).server, { revision });
    const long = "x".repeat(1001);
    const answers = await answersTo(client, long, long, "{}", long);
    const tooLong = "The message is larger than 1000 bytes";
    const messages = answers.map((answer) => answer.error?.message);
    expect(messages.filter((message) => message === tooLong)).toHaveLength(3);
    expect(messages.filter((message) => message !== tooLong)).toEqual([expect.stringContaining("jsonrpc")]);
    await client.close();
  });
});

describe("limits as options", () => {
  test.each([
    { maxBytes: 0 },
    { maxDepth: -1 },
    { maxElements: 1.5 },
    { maxBatch: Number.NaN },
    { maxBites: 5 },
  ])("%o cannot work and throws when the server is made", (limits) => {
    const make = (): McpServer => new McpServer({ name: "test", version: "1.0.0" }, { limits });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(`limits.${Object.keys(limits)[0]}`);
  });
});
