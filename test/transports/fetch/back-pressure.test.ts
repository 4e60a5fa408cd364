// A response of fetchHandler that is not read, or read in part: what waits comes in order once it is read.
import { McpServer, type ServerOptions } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { describe, expect, onTestFinished, test } from "vitest";
import { initializeRequest, modernRequest, newestLegacy, newestModern } from "../../support/raw.ts";

const url = "http://localhost/mcp";
const accept = "application/json, text/event-stream";

/** The body of a response, read when the test says so. */
class Reading {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
    onTestFinished(() => this.#reader.cancel());
  }

  /** Takes the next piece. */
  async take(): Promise<void> {
    const { value, done } = await this.#reader.read();
    if (done) throw new Error(`The body has ended after ${this.#text.length} characters`);
    this.#text += this.#decoder.decode(value, { stream: true });
  }

  /** Takes pieces until so many notifications of this method have arrived; the last word of each. */
  async words(method: string, count: number): Promise<string[]> {
    for (;;) {
      const heard = this.#words(method);
      if (heard.length >= count) return heard;
      await this.take();
    }
  }

  #words(method: string): string[] {
    const complete = this.#text.split("\n\n").slice(0, -1);
    const data = complete.flatMap((block) => /^data: (.+)$/m.exec(block)?.[1] ?? []);
    const messages = data.map((text) => JSON.parse(text) as { method?: string; params?: object });
    return messages
      .filter((message) => message.method === method)
      .map(({ params = {} }) => {
        const { uri, data: said } = params as { uri?: string; data?: string };
        return String(uri ?? said).slice(-2);
      });
  }
}

interface Unread {
  readonly reading: Reading;
  readonly method: string;
  /** Pushes about 8 KB that end in this number. */
  push(at: number): Promise<unknown>;
}

type Handler = ReturnType<typeof fetchHandler>;

function post(handler: Handler, message: object, headers: Record<string, string>): Promise<Response> {
  const all = { "content-type": "application/json", accept, ...headers };
  return handler(new Request(url, { method: "POST", headers: all, body: JSON.stringify(message) }));
}

const twoDigits = (at: number): string => String(at).padStart(2, "0");

const streams: Record<string, (server: McpServer, handler: Handler) => Promise<Unread>> = {
  async "the GET stream of a session"(server, handler) {
    const begun = await post(handler, initializeRequest(0, newestLegacy), {});
    const session = begun.headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": session, "mcp-protocol-version": newestLegacy };
    await post(handler, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
    const response = await handler(new Request(url, { headers: { accept, ...headers } }));
    const method = "notifications/message";
    const push = (at: number): Promise<boolean> =>
      server.push.toSession(session, method, { level: "info", data: "x".repeat(8000) + twoDigits(at) });
    return { reading: new Reading(response), method, push };
  },
  async "a listen stream"(server, handler) {
    const uriOf = (at: number): string => `note:///${"x".repeat(8000)}${twoDigits(at)}`;
    const filter = { resourceSubscriptions: Array.from({ length: 30 }, (_, at) => uriOf(at)) };
    const request = modernRequest("sub", "subscriptions/listen", { notifications: filter });
    const headers = { "mcp-protocol-version": newestModern, "mcp-method": "subscriptions/listen" };
    const response = await post(handler, request, headers);
    const push = (at: number): Promise<number> => server.resources.updated(uriOf(at));
    return { reading: new Reading(response), method: "notifications/resources/updated", push };
  },
};

describe.each(Object.entries(streams))("%s that nobody reads", (_, open) => {
  async function begin(limits: ServerOptions["limits"] = {}): Promise<Unread & { handler: Handler }> {
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      { limits: { maxSubscribedLength: 1_000_000, ...limits } },
    );
    server.resourceTemplate("note:///{id}", {}, () => "");
    const handler = fetchHandler(server);
    onTestFinished(() => handler.close());
    return { ...(await open(server, handler)), handler };
  }

  const numbers = (count: number): string[] => Array.from({ length: count }, (__, at) => twoDigits(at));

  test("has everything once it is read, in order", async () => {
    const { reading, method, push, handler } = await begin();
    for (let at = 0; at < 25; at++) await push(at);
    // More than the response holds waits elsewhere, for 25 of them are 200 KB.
    expect(handler.stats().unsentBytes).toBeLessThan(300_000);
    expect(await reading.words(method, 25)).toEqual(numbers(25));
    await push(25);
    expect(await reading.words(method, 26)).toEqual(numbers(26));
    expect(handler.stats().unsentBytes).toBe(0);
  });

  test("keeps the order when it is read in part and more is said", async () => {
    const { reading, method, push } = await begin();
    for (let at = 0; at < 20; at++) await push(at);
    // There is room again before everything has been taken.
    for (let at = 20; at < 30; at++) {
      await reading.take();
      await push(at);
    }
    expect(await reading.words(method, 30)).toEqual(numbers(30));
  });

  test("may be behind and catch up again and again, past what may wait at once", async () => {
    const { reading, method, push } = await begin({ maxQueueBytes: 150_000 });
    let count = 0;
    for (let round = 0; round < 8; round++) {
      for (let at = 0; at < 15; at++) await push(at);
      count += 15;
      expect((await reading.words(method, count)).slice(-15)).toEqual(numbers(15));
    }
  });
});
