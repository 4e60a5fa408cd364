// Reading server-sent events: what a server may write, in pieces of any size, and what it may not.
import {
  connect,
  type ConnectOptions,
  ConnectionLost,
  InvalidResponse,
  type McpClient,
} from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { Random } from "../../fuzz/random.ts";
import { cannedFetch, eventsIn } from "../../support/canned-fetch.ts";
import { failing } from "../../support/http-script.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The response of the canned server: text that needs one to four bytes for each character. */
const result = { resultType: "complete", text: "aß€𝄞\u2028 b" };

/** How an event with this response may be written. `$` stands for it. */
const forms: Record<string, string> = {
  "line feeds": "data: $\n\n",
  "no space": "data:$\n\n",
  "carriage returns": "data: $\r\r",
  both: "data: $\r\n\r\n",
  "mixed ends": "id: 1\r\ndata: $\n\r",
  "a byte order mark": "\uFEFFdata: $\n\n",
  "comments [HTTP26-SSE-COMMENTS-IGNORE]": ": hello\n:\n:data: {}\ndata: $\n: more\n\n:end",
  "an event without data before [RESUME-EMPTY-DATA]":
    "id: 0\nretry: 10\ndata:\n\nid: 1\ndata: \n\ndata: $\n\n",
  "an event of another type before": 'event: ping\ndata: {"not":"a message"}\n\nevent: message\ndata: $\n\n',
  "fields that mean nothing": "datum: 1\ndata\nretry: soon\nid: a\u0000b\nfoo\n: \nevent\ndata: $\n\n",
  "many blank lines": "\n\n\r\n\ndata: $\n\n\n\n",
  "other messages before":
    'data: {"jsonrpc":"2.0","method":"notifications/a"}\n\ndata: {"jsonrpc":"2.0","method":"notifications/b"}\n\ndata: $\n\n',
};

/** Ways to cut bytes into pieces. */
const random = new Random(Number(process.env["HALYARD_FUZZ_SEED"] ?? 1));
const cuts: Record<string, (bytes: Uint8Array) => Uint8Array[]> = {
  "one piece": (bytes) => [bytes],
  "single bytes": (bytes) => [...bytes].map((byte) => Uint8Array.of(byte)),
  "single bytes and empty pieces": (bytes) =>
    [...bytes].flatMap((byte) => [new Uint8Array(0), Uint8Array.of(byte)]),
};

function randomPieces(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + random.below(12);
    pieces.push(bytes.slice(from, to));
    from = to;
  }
  return pieces;
}

async function clientOf(
  pieces: (text: string) => Iterable<Uint8Array>,
  options: ConnectOptions = {},
): Promise<McpClient> {
  const fetch = cannedFetch(({ id }) => eventsIn(pieces(JSON.stringify({ jsonrpc: "2.0", id, result }))));
  const client = await connect("http://canned.example/mcp", { fetch, ...options });
  onTestFinished(() => client.close());
  return client;
}

describe.each(Object.entries(forms))("an event with %s", (_, form) => {
  test.each(Object.entries(cuts))("is read from %s", async (__, cut) => {
    const client = await clientOf((text) => cut(bytesOf(form.replace("$", () => text))));
    expect(await client.request("work")).toEqual(result);
  });

  test("is read from pieces of any size", async () => {
    const client = await clientOf((text) => randomPieces(bytesOf(form.replace("$", () => text))));
    for (let round = 0; round < 100; round++) expect(await client.request("work")).toEqual(result);
  });
});

test("an event whose data has several lines is one message", async () => {
  const client = await clientOf((text) => [
    bytesOf(`data: ${JSON.stringify(JSON.parse(text), undefined, 1).replaceAll("\n", "\ndata: ")}\n\n`),
  ]);
  expect(await client.request("work")).toEqual(result);
});

test("an event that the end of the stream cuts off is not delivered", async () => {
  const client = await clientOf((text) => [bytesOf(`data: ${text}\n`)]);
  const error = await failing(client.request("work"));
  expect(error).toBeInstanceOf(ConnectionLost);
  expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
});

/** A body that never ends, and whether its reader has cancelled it. */
function endless(start: string, piece: string): { response: Response; isCancelled: () => boolean } {
  let isCancelled = false;
  let isStarted = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(bytesOf(isStarted ? piece : start));
      isStarted = true;
    },
    cancel: () => void (isCancelled = true),
  });
  const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  return { response, isCancelled: () => isCancelled };
}

test.each([
  ["a line", "data: ", "x".repeat(1000)],
  ["an event of many lines", "id: 1\n", `data: ${"x".repeat(1000)}\n`],
  ["an event of empty lines", "id: 1\n", "data:\n".repeat(1000)],
  ["a comment", ":", "x".repeat(1000)],
  ["a field of no meaning", "foo", "x".repeat(1000)],
])("%s without an end is cut off at the limit of a message", async (_, begin, piece) => {
  const { response, isCancelled } = endless(begin, piece);
  const client = await connect("http://canned.example/mcp", {
    fetch: cannedFetch(() => response),
    limits: { maxBytes: 50_000 },
  });
  const error = await failing(client.request("work"));
  expect(error).toBeInstanceOf(InvalidResponse);
  expect(error.message).toContain("50000");
  expect(isCancelled()).toBe(true);
});

test("a message just below the limit is read, one above is not", async () => {
  const text = (id: unknown): string =>
    JSON.stringify({ jsonrpc: "2.0", id, result: { ...result, fill: "x".repeat(5000) } });
  const limit = text(2).length + 3;
  const fetch = cannedFetch(({ id }) => eventsIn([bytesOf(`data: ${text(id)}\n\n`)]));
  const enough = await connect("http://canned.example/mcp", { fetch, limits: { maxBytes: limit + 20 } });
  const tooFew = await connect("http://canned.example/mcp", { fetch, limits: { maxBytes: limit - 20 } });
  expect(await enough.request("work")).toMatchObject({ text: result.text });
  expect(await failing(tooFew.request("work"))).toBeInstanceOf(InvalidResponse);
});
