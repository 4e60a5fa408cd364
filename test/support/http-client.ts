// A test client over HTTP: a POST for each message, and for a legacy one a session with a stream for what is pushed.
import type { JsonObject, Servable } from "halyard";
import { serveHttp } from "halyard/node";
import { type ConnectOptions, protocolRevisions, TestClient, type Wire } from "halyard/testing";
import { mirrored, post, sendTo, versionOf } from "./http.ts";
import type { HttpReply } from "./http-reply.ts";
import { metaKeys, modernDates } from "./raw.ts";

export async function connectHttp(server: Servable, options: ConnectOptions): Promise<TestClient> {
  const http = await serveHttp(server, { port: 0, graceMs: 1000 });
  const { revision = protocolRevisions[0]!.date } = options;
  const wire = new HttpWire(http.port, revision, http.close);
  const client = new TestClient(wire, options);
  if (options.handshake !== false) await client.open();
  return client;
}

/** Sends each message in a POST of its own, with the headers that its revision asks for, and any others. */
export class HttpWire implements Wire {
  readonly #port: number;
  readonly #extra: Readonly<Record<string, string>>;
  readonly #isModern: boolean;
  readonly #stop: () => Promise<void>;
  readonly #open = new Map<unknown, AbortController>();
  /** A client waits until its notifications have been taken before it says the next thing. */
  #order: Promise<unknown> = Promise.resolve();
  #session: string | undefined;
  #isInitialized = false;
  /** What the server answered initialize with. */
  #agreed = "";
  onMessage: (text: string) => void = () => {};
  onClose: () => void = () => {};

  constructor(
    port: number,
    revision: string,
    stop: () => Promise<void>,
    extra: Readonly<Record<string, string>> = {},
  ) {
    this.#port = port;
    this.#extra = extra;
    this.#isModern = modernDates.includes(revision);
    this.#stop = stop;
  }

  /** The session that the server has begun, if it has. */
  get session(): string | undefined {
    return this.#session;
  }

  send(text: string): void {
    const message = readable(text);
    const isRequest = message["id"] !== undefined && message["method"] !== undefined;
    const sent = this.#order.then(() => this.#post(text, message));
    if (!isRequest || message["method"] === "initialize") this.#order = sent;
  }

  async close(): Promise<void> {
    await this.#order;
    await this.#stop();
  }

  async #post(text: string, message: JsonObject): Promise<void> {
    // Over HTTP a modern client cancels by closing the response.
    if (this.#isModern && message["method"] === "notifications/cancelled") return this.#cancel(message);
    const controller = new AbortController();
    this.#open.set(message["id"], controller);
    try {
      const reply = await sendTo(this.#port, {
        ...post(text, { ...this.#headers(message), ...this.#extra }),
        signal: controller.signal,
      });
      if (message["method"] === "initialize") await this.#begin(reply);
      await this.#hear(reply);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }

  /** A request with modern `_meta` repeats it; any other belongs to the session, once there is one. */
  #headers(message: JsonObject): Record<string, string | undefined> {
    const meta = (message["params"] as JsonObject | undefined)?.["_meta"] as JsonObject | undefined;
    const version = meta?.[metaKeys.protocolVersion];
    if (version !== undefined) return { ...mirrored(message), "mcp-protocol-version": String(version) };
    if (message["method"] === "initialize" && !this.#isInitialized) return {};
    if (this.#isInitialized) return { "mcp-session-id": this.#session, ...versionOf(this.#agreed) };
    return this.#isModern ? mirrored(message) : {};
  }

  #cancel(message: JsonObject): void {
    const id = (message["params"] as JsonObject | undefined)?.["requestId"];
    this.#open.get(id)?.abort();
  }

  /** The session has begun: what is pushed comes on a stream of its own. */
  async #begin(reply: HttpReply): Promise<void> {
    const agreed = (await reply.answer()).result?.["protocolVersion"];
    if (agreed === undefined) return;
    this.#isInitialized = true;
    this.#agreed = String(agreed);
    this.#session = reply.headers["mcp-session-id"];
    if (this.#session === undefined) return;
    const headers = {
      accept: "text/event-stream",
      "mcp-session-id": this.#session,
      ...versionOf(this.#agreed),
      ...this.#extra,
    };
    void this.#hear(await sendTo(this.#port, { method: "GET", headers }));
  }

  /** Passes on what a response holds, as it arrives. */
  async #hear(reply: HttpReply): Promise<void> {
    let heard = 0;
    const pass = (): void => {
      for (const message of reply.messages.slice(heard)) this.onMessage(JSON.stringify(message));
      heard = reply.messages.length;
    };
    reply.onText = () => {
      if (reply.type === "text/event-stream") pass();
    };
    await reply.ended();
    pass();
  }
}

/** What can be read of a text that may be anything. */
function readable(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
