// A reader behind by more than maxQueueBytes is cut off. When it resumes, it gets the rest, or notifications to read everything again.
import { type JsonObject, McpServer } from "halyard";
import { fetchHandler, type FetchHandler } from "halyard/fetch";
import type { HttpOptions } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { initializeRequest } from "../support/raw.ts";
import { logDataOf, methodsOf } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { contract, optionsOn } from "./columns.ts";

const url = "http://localhost/mcp";
const padding = "x".repeat(8000);

/** A stream whose reader takes nothing before it is asked to: no socket is in between. */
class HeldReader {
  readonly messages: JsonObject[] = [];
  lastEventId: string | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  constructor({ body }: Response) {
    this.#reader = (body as ReadableStream<Uint8Array>).getReader();
    onTestFinished(() => this.#reader.cancel().catch(() => {}));
  }

  /** Reads until `isEnough`, or the stream ends. */
  async read(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const { value, done } = await this.#reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) return;
      const blocks = (this.#text + new TextDecoder().decode(value)).split("\n\n");
      this.#text = blocks.pop() ?? "";
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    this.lastEventId = /^id: (.+)$/m.exec(block)?.[1] ?? this.lastEventId;
    const data = /^data: (.+)$/m.exec(block)?.[1];
    if (data) this.messages.push(JSON.parse(data) as JsonObject);
  }
}

/** Opens the GET stream of the session, or resumes it. */
type Open = (lastEventId?: string) => Promise<HeldReader>;

contract("a slow reader", (column) => {
  async function begin(
    limits: NonNullable<HttpOptions["limits"]> = {},
  ): Promise<{ server: McpServer; handler: FetchHandler; session: string; open: Open }> {
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      optionsOn(column, { limits: { maxQueueBytes: 20_000 } }),
    );
    server.tool("first", {}, () => "first");
    const handler = fetchHandler(server, { limits });
    onTestFinished(() => handler.close());
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": "",
      host: "localhost",
    };
    const say = (message: object): Promise<Response> =>
      Promise.resolve(
        handler(new Request(url, { method: "POST", headers: given(), body: JSON.stringify(message) })),
      );
    const given = (): Record<string, string> =>
      Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
    const initialized = await say(initializeRequest(0, "2025-11-25"));
    headers["mcp-session-id"] = initialized.headers.get("mcp-session-id") ?? "";
    await say({ jsonrpc: "2.0", method: "notifications/initialized" });
    const open: Open = async (lastEventId = "") => {
      const resumed = lastEventId === "" ? {} : { "last-event-id": lastEventId };
      return new HeldReader(await handler(new Request(url, { headers: { ...given(), ...resumed } })));
    };
    return { server, handler, session: headers["mcp-session-id"], open };
  }

  async function push(
    server: McpServer,
    session: string,
    from: number,
    to: number,
    logger = padding,
  ): Promise<void> {
    for (let data = from; data <= to; data++) {
      const params = { level: "info", data, logger };
      expect(await server.push.toSession(session, "notifications/message", params)).toBe(true);
    }
  }

  test("is cut off past maxQueueBytes, and gets the rest when it resumes, in order and once", async () => {
    const { server, handler, session, open } = await begin();
    const slow = await open();
    await slow.read(() => slow.lastEventId !== undefined);
    await push(server, session, 1, 25);
    await until(() => handler.stats().streams === 0);
    await slow.read(() => false);
    const before = logDataOf(slow.messages).length;
    expect(before).toBeLessThan(25);
    const resumed = await open(slow.lastEventId);
    await resumed.read(() => logDataOf([...slow.messages, ...resumed.messages]).includes(25));
    const numbers = logDataOf([...slow.messages, ...resumed.messages]);
    expect(numbers).toEqual(Array.from({ length: 25 }, (_, at) => at + 1));
    expect(methodsOf(resumed.messages)).not.toContain("tools/list_changed");
  });

  test("is told to read everything again if the log no longer has the rest", async () => {
    const { server, handler, session, open } = await begin({ maxStreamBytes: 50_000 });
    const slow = await open();
    await slow.read(() => slow.lastEventId !== undefined);
    await push(server, session, 1, 25);
    await until(() => handler.stats().streams === 0);
    await slow.read(() => false);
    const resumed = await open(slow.lastEventId);
    await push(server, session, 26, 26);
    await resumed.read(() => logDataOf(resumed.messages).includes(26));
    expect(methodsOf(resumed.messages)[0]).toBe("tools/list_changed");
  });

  test("that catches up in time gets everything, and is not cut off", async () => {
    const { server, handler, session, open } = await begin();
    const slow = await open();
    for (let from = 1; from < 50; from += 5) {
      await push(server, session, from, from + 4);
      await slow.read(() => logDataOf(slow.messages).includes(from + 4));
    }
    expect(logDataOf(slow.messages)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    expect(handler.stats().streams).toBe(1);
  });

  test("that opens its stream while messages are pushed gets each once", async () => {
    const { server, session, open } = await begin();
    const opening = open();
    const pushing: Promise<void>[] = [];
    // Some arrive at every step of the opening.
    for (let data = 1; data <= 100; data++) {
      pushing.push(push(server, session, data, data, ""));
      await Promise.resolve();
    }
    await Promise.all(pushing);
    const reader = await opening;
    await reader.read(() => logDataOf(reader.messages).length >= 100);
    const numbers = logDataOf(reader.messages).toSorted((one, other) => Number(one) - Number(other));
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });
});
