// One HTTP exchange over a socket of its own: its events as they arrive, and the means to stop reading or to cut it.
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { JsonObject } from "halyard";
import { isServed } from "./connections.ts";
import { watchHttp } from "./schemas/watch-http.ts";
import { realNow, until } from "./turns.ts";

export interface SseEvent {
  readonly id?: string;
  readonly data?: string;
  readonly retry?: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Sends a request and resolves when the head of the response has arrived. */
export function send(url: string, asked: Asked): Promise<EventReply> {
  const { method = "POST", headers = {}, body } = asked;
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers: Object.fromEntries(given), agent: false }, (response) => {
      const reply = new EventReply(response);
      const path = url.slice(new URL(url).origin.length);
      watchHttp({ path, headers, body: body ?? "" }, reply);
      resolve(reply);
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

export class EventReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Every event so far, those without data too. */
  readonly events: SseEvent[] = [];
  /** How it ended, once it has. */
  end: "complete" | "cut" | undefined;
  /** Called with each event as it arrives. */
  onEvent: (event: SseEvent) => void = () => {};
  readonly closed: Promise<void>;
  readonly #response: IncomingMessage;
  /** Of the client; a socket that has closed no longer knows it. */
  readonly #port: number | undefined;
  #text = "";
  #rest = "";
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.#port = response.socket.localPort;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    response.on("error", () => {});
    this.closed = new Promise((resolve) => {
      response.on("close", () => {
        this.end = response.complete ? "complete" : "cut";
        this.#wake();
        resolve();
      });
    });
  }

  /** The messages that the events carry, in order. */
  get messages(): JsonObject[] {
    return this.events.filter(({ data }) => data).map(({ data }) => JSON.parse(data ?? "") as JsonObject);
  }

  get lastEventId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The whole body as JSON. */
  async json(): Promise<JsonObject> {
    await this.closed;
    return JSON.parse(this.#text) as JsonObject;
  }

  async text(): Promise<string> {
    await this.closed;
    return this.#text;
  }

  /** What has arrived, comments too. */
  get textSoFar(): string {
    return this.#text;
  }

  isOver(): boolean {
    return this.end !== undefined;
  }

  /** Resolves with the first message for which `matches` holds, past or to come; fails when the stream ends without it. */
  async message(matches: (message: JsonObject) => boolean, timeoutMs = 10_000): Promise<JsonObject> {
    const deadline = realNow() + timeoutMs;
    for (;;) {
      const found = this.messages.find(matches);
      if (found !== undefined) return found;
      if (this.end !== undefined || realNow() > deadline) {
        throw new Error(
          `No such message on a stream that is ${this.end ?? "open"}: ${this.#text.slice(-500)}`,
        );
      }
      await this.#news(50);
    }
  }

  /** Resolves when so many messages have arrived. */
  async count(messages: number): Promise<JsonObject[]> {
    await this.message(() => this.messages.length >= messages);
    return this.messages;
  }

  /** Cuts the connection. */
  cut(): void {
    this.#response.destroy();
  }

  /** Cuts the connection, and resolves when the server has seen it: before that, nothing is lost yet. */
  vanish(): Promise<void> {
    this.cut();
    return this.released();
  }

  /** Resolves when it has closed, and the server has seen it. */
  async released(): Promise<void> {
    await this.closed;
    await until(() => this.#port === undefined || !isServed(this.#port));
  }

  /** Stops reading, so that the server's writes pile up. */
  stall(): void {
    this.#response.pause();
    this.#response.socket.pause();
  }

  /** Reads again. */
  proceed(): void {
    this.#response.socket.resume();
    this.#response.resume();
  }

  #take(text: string): void {
    this.#text += text;
    if (!this.headers["content-type"]?.startsWith("text/event-stream")) return;
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = readEvent(block);
      if (event === undefined) continue;
      this.events.push(event);
      this.onEvent(event);
    }
    this.#wake();
  }

  #news(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function readEvent(block: string): SseEvent | undefined {
  const fields = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
  if (fields.length === 0) return undefined;
  return Object.fromEntries(
    fields.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    }),
  );
}
