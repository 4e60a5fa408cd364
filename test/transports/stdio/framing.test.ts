// One message a line: how bytes become messages, and messages bytes.
import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { describeMatrix } from "../../support/matrix.ts";
import { readLines } from "../../support/stdio.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function echoServer(maxBytes = 4096): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits: { maxBytes } });
  server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);
  return server;
}

function echo(id: number | string, text: string): string {
  const params = { name: "echo", arguments: { text }, _meta: meta };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

/** Feeds the chunks, ends the input, and resolves with the messages that were written. */
async function exchange(chunks: readonly (Buffer | string)[], server = echoServer()): Promise<Reply[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stdio = await serveStdio(server, { input, output, graceMs: 1000 });
  const replies: Reply[] = [];
  readLines(output, (line) => replies.push(JSON.parse(line) as Reply));
  for (const chunk of chunks) if (chunk.length > 0) input.write(chunk);
  input.end();
  await stdio.closed;
  output.end();
  await new Promise((resolve) => output.on("end", resolve));
  return replies;
}

interface Reply {
  readonly id?: number | string | null;
  readonly result?: { readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

function texts(replies: readonly Reply[]): unknown[] {
  return replies.map(({ id, result, error }) => [id, result?.content[0]?.text ?? error?.code]);
}

describe("framing", () => {
  test("several messages in one chunk are several messages [STDIO-SINGLE-MESSAGE]", async () => {
    const replies = await exchange([`${echo(1, "a")}\n${echo(2, "b")}\n${echo(3, "c")}\n`]);
    expect(texts(replies)).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ]);
  });

  test("lines may end in CRLF, and empty lines mean nothing", async () => {
    const replies = await exchange([`\n\r\n${echo(1, "a")}\r\n\n\n\r\n${echo(2, "b")}\r\n\r\n`]);
    expect(texts(replies)).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  test("a last line without a newline counts", async () => {
    expect(texts(await exchange([`${echo(1, "a")}\n`, echo(2, "b")]))).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  test("a chunk may end inside a character [BASE-UTF8]", async () => {
    const text = "ä€😀 ünïcödé 漢字";
    const bytes = Buffer.from(`${echo(1, text)}\n${echo(2, text)}\n`);
    const replies = await exchange([...bytes].map((byte) => Buffer.from([byte])));
    expect(texts(replies)).toEqual([
      [1, text],
      [2, text],
    ]);
  });

  test("wherever the chunks are cut, the messages are the same [BASE-UTF8, STDIO-SINGLE-MESSAGE]", async () => {
    const message = fc.string({ unit: "grapheme", maxLength: 20 });
    const eol = fc.constantFrom("\n", "\r\n", "\n\n", "\r\n\n");
    const lines = fc.array(fc.tuple(message, eol), { minLength: 1, maxLength: 8 });
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(lines, cuts, async (said, at) => {
        const bytes = Buffer.from(said.map(([text, end], id) => echo(id, text) + end).join(""));
        const edges = [0, ...at.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
          (a, b) => a - b,
        );
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        expect(texts(await exchange(chunks))).toEqual(said.map(([text], id) => [id, text]));
      }),
      { numRuns: 60 },
    );
  });

  test("what is no JSON is a parse error, and the next line is served", async () => {
    const replies = await exchange([`{"jsonrpc":\nhello\n${echo(1, "a")}\n`]);
    expect(texts(replies)).toEqual([
      [undefined, -32700],
      [undefined, -32700],
      [1, "a"],
    ]);
  });

  const long = "x".repeat(5000);
  const cases: [string, string[]][] = [
    ["in one chunk", [`${echo(1, long)}\n${echo(2, "a")}\n`]],
    ["in many chunks", [echo(1, long).slice(0, 3000), echo(1, long).slice(3000), "\n", `${echo(2, "a")}\n`]],
    [
      "with its end in the chunk of the next",
      [echo(1, long).slice(0, 4500), `${"z".repeat(99)}\n${echo(2, "a")}\n`],
    ],
    [
      "before one in many chunks",
      [echo(1, long), "\n", echo(2, "a").slice(0, 9), `${echo(2, "a").slice(9)}\n`],
    ],
    [
      "whose excess comes with its newline, before one in two chunks",
      [
        echo(1, long).slice(0, 3000),
        `${"z".repeat(2000)}\n${echo(2, "a").slice(0, 9)}`,
        `${echo(2, "a").slice(9)}\n`,
      ],
    ],
    ["between two short ones", [`${echo(0, "b")}\n${echo(1, long)}\n${echo(2, "a")}\n`]],
    [
      "of many limits",
      [
        ..."x"
          .repeat(20)
          .replaceAll("x", `${"y".repeat(2000)} `)
          .split(" "),
        `\n${echo(2, "a")}\n`,
      ],
    ],
    ["of long characters", [`${echo(1, "€".repeat(2000))}\n${echo(2, "a")}\n`]],
    ["that is the last", [`${echo(2, "a")}\n`, echo(1, long)]],
  ];
  test.each(cases)(
    "a line past the limit is refused once, and the others are served: %s",
    async (_, chunks) => {
      const replies = await exchange(chunks);
      const refused = replies.filter(({ error }) => error !== undefined);
      expect(refused).toHaveLength(1);
      expect(refused[0]?.error).toMatchObject({
        code: -32600,
        message: "The message is larger than 4096 bytes",
      });
      expect(refused[0]).not.toHaveProperty("id");
      expect(texts(replies)).toContainEqual([2, "a"]);
    },
  );

  test("a line of exactly the limit is served", async () => {
    const line = echo(1, "x".repeat(100));
    const atLimit = await exchange([`${line}\n`], echoServer(line.length));
    expect(atLimit).toMatchObject([{ id: 1, result: {} }]);
    const inParts = await exchange([line.slice(0, 50), `${line.slice(50)}\n`], echoServer(line.length));
    expect(inParts).toMatchObject([{ id: 1, result: {} }]);
    const over = await exchange([`${line}\n`], echoServer(line.length - 1));
    expect(over).toMatchObject([{ error: { code: -32600 } }]);
  });
});

describeMatrix("framing", { transports: ["stdio"] }, (cell) => {
  test("a message out is one line, whatever line breaks its text has [STDIO-FRAME-NEWLINE]", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const text = "one\ntwo\r\nthree\u2028four\u2029five\u0085six\0";
    server.tool("lines", {}, (_, ctx) => {
      ctx.log("emergency", text, "a\nb");
      ctx.progress(1, 2, text);
      return text;
    });
    const lines: string[] = [];
    readLines(output, (line) => lines.push(line));
    const stdio = await serveStdio(server, { input, output });
    const say = (message: object): void =>
      void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "c", version: "1.0.0" };
    if (cell.era === "legacy") {
      const params = { protocolVersion: cell.revision, capabilities: {}, clientInfo };
      say({ id: 1, method: "initialize", params });
    }
    const asked = cell.era === "modern" ? { ...meta, "io.modelcontextprotocol/logLevel": "debug" } : {};
    const params = { name: "lines", _meta: { ...asked, progressToken: "a\nb" } };
    say({ id: 2, method: "tools/call", params });
    input.end();
    await stdio.closed;
    const messages = lines.map((line) => JSON.parse(line) as Reply);
    expect(messages).toHaveLength(cell.era === "modern" ? 3 : 4);
    expect(messages.at(-1)?.result?.content[0]?.text).toBe(text);
  });
});

describeMatrix("framing", { transports: ["stdio"] }, (cell) => {
  test("a line past the limit is refused with the id that the revision has for that [BASE-ERR-ID-UNREADABLE]", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { limits: { maxBytes: 1000 } });
    const client = await cell.connect(server);
    client.sendText("x".repeat(2000));
    const refusal = await client.waitFor((message) => "error" in message);
    const expected = cell.era === "legacy" && cell.revision < "2025-11-25" ? null : undefined;
    expect((refusal as { id?: unknown }).id).toBe(expected);
    await client.close();
  });
});

describeMatrix("framing", { transports: ["stdio"], since: "2025-03-26", until: "2025-03-26" }, (cell) => {
  test("a batch is answered on one line [STDIO-SINGLE-MESSAGE]", async () => {
    const client = await cell.connect(echoServer());
    client.send([
      { jsonrpc: "2.0", id: "a", method: "ping" },
      { jsonrpc: "2.0", id: "b", method: "ping" },
    ]);
    await client.waitFor((message) => "id" in message && message.id === "b");
    await client.close();
  });
});

for (const options of [{ until: "2024-11-05" }, { since: "2025-06-18" }]) {
  describeMatrix("framing", { transports: ["stdio"], ...options }, (cell) => {
    test("a line holds one message and no batch [STDIO-SINGLE-MESSAGE]", async () => {
      const client = await cell.connect(echoServer());
      client.send([{ jsonrpc: "2.0", id: "a", method: "ping" }]);
      expect(await client.waitFor((message) => "error" in message)).toMatchObject({
        error: { code: -32600 },
      });
      await client.close();
    });
  });
}
