// A client of the transport of 2024-11-05: a stream for what it hears, and POSTs to the path that it was told.
import type { JsonObject } from "halyard";
import { type EventReply, send } from "./event-reply.ts";
import { initializeRequest } from "./raw.ts";
import { until } from "./turns.ts";

export class SseClient {
  readonly stream: EventReply;
  readonly #endpoint: string;

  constructor(stream: EventReply, endpoint: string) {
    this.stream = stream;
    this.#endpoint = endpoint;
  }

  /** Connects to the server whose MCP endpoint that is, and initializes. */
  static async open(served: { readonly url: string }, capabilities: JsonObject = {}): Promise<SseClient> {
    const base = served.url.replace("/mcp", "");
    const stream = await send(`${base}/sse`, { method: "GET", headers: { accept: "text/event-stream" } });
    await until(() => stream.events.length === 1);
    const [first] = stream.events.splice(0);
    const client = new SseClient(stream, base + String(first?.data));
    await client.say(initializeRequest("init", "2024-11-05", { capabilities }));
    await stream.message(({ id }) => id === "init");
    await client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  /** Posts a message, and resolves with the status. */
  say(message: JsonObject): Promise<number> {
    return this.sayText(JSON.stringify(message));
  }

  /** Posts any text, and resolves with the status. */
  async sayText(body: string): Promise<number> {
    const headers = { "content-type": "application/json" };
    const reply = await send(this.#endpoint, { headers, body });
    await reply.closed;
    return reply.status;
  }
}
