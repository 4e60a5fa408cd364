// A response as it comes off the wire: its head at once, its body and events as they arrive.
import type { Answer } from "./raw.ts";
import { until } from "./turns.ts";

/** One server-sent event; a block without data has none. */
export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly retry?: string;
  readonly data?: string;
}

export class HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Cuts the connection, as a client does that has lost interest. */
  readonly abort: () => void;
  /** What has arrived so far. */
  text = "";
  /** How it ended: in good order, or cut off. */
  end: "open" | "complete" | "cut" = "open";
  /** Called when something has arrived. */
  onText: () => void = () => {};
  readonly #ended: Promise<void>;

  constructor(
    status: number,
    headers: Readonly<Record<string, string | undefined>>,
    body: AsyncIterable<Uint8Array>,
    abort: () => void,
  ) {
    this.status = status;
    this.headers = headers;
    this.abort = abort;
    this.#ended = this.#read(body);
  }

  get textSoFar(): string {
    return this.text;
  }

  isOver(): boolean {
    return this.end !== "open";
  }

  get type(): string | undefined {
    return this.headers["content-type"];
  }

  /** Every event that has arrived in full. */
  get events(): SseEvent[] {
    const blocks = this.text.split("\n\n").slice(0, -1);
    return blocks.map(readEvent).filter((event) => Object.keys(event).length > 0);
  }

  /** The comments between the events. */
  get comments(): string[] {
    return this.text.split("\n").filter((line) => line.startsWith(":"));
  }

  /** The messages in the events, or the one that is the body. */
  get messages(): Answer[] {
    if (this.type !== "text/event-stream") return this.text === "" ? [] : [JSON.parse(this.text) as Answer];
    return this.events.flatMap(({ data }) => (data ? [JSON.parse(data) as Answer] : []));
  }

  /** The body, once the response is complete. */
  async complete(): Promise<this> {
    await this.ended();
    if (this.end !== "complete") throw new Error(`The response was cut off after ${this.text}`);
    return this;
  }

  /** Resolves when nothing more comes. */
  async ended(): Promise<this> {
    await this.#ended;
    return this;
  }

  /** The message that answers: the last one, once the response is complete. */
  async answer(): Promise<Answer> {
    await this.complete();
    return this.messages.at(-1) ?? {};
  }

  /** Resolves once this many messages have arrived. */
  async received(count: number): Promise<Answer[]> {
    await until(() => this.messages.length >= count);
    return this.messages;
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) {
        this.text += decoder.decode(chunk, { stream: true });
        this.onText();
      }
      this.end = "complete";
    } catch {
      this.end = "cut";
    }
  }
}

function readEvent(block: string): SseEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name !== undefined) fields[name] = value;
  }
  return fields;
}
