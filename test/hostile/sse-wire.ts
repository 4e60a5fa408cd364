// A client of the HTTP+SSE transport: a stream to hear on, and a path to post to that the stream has named.
import type { Wire } from "halyard/testing";
import { post, sendTo } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { until } from "../support/turns.ts";

export class SseWire implements Wire {
  onMessage: (text: string) => void = () => {};
  onClose: () => void = () => {};
  /** The path that takes this client's messages. */
  readonly endpoint: string;
  readonly #port: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #stream: HttpReply;
  #heard = 1;
  /** One after the other, as a client on a pipe says them. */
  #order: Promise<unknown> = Promise.resolve();

  private constructor(port: number, headers: Readonly<Record<string, string>>, stream: HttpReply) {
    this.#port = port;
    this.#headers = headers;
    this.#stream = stream;
    this.endpoint = stream.events[0]?.data ?? "";
    stream.onText = () => this.#pass();
  }

  static async open(port: number, headers: Readonly<Record<string, string>>): Promise<SseWire> {
    const accept = { accept: "text/event-stream", ...headers };
    const stream = await sendTo(port, { method: "GET", path: "/sse", headers: accept });
    await until(() => stream.events.length > 0);
    return new SseWire(port, headers, stream);
  }

  send(text: string): void {
    this.#order = this.#order.then(() =>
      sendTo(this.#port, { ...post(text, this.#headers), path: this.endpoint }),
    );
  }

  async close(): Promise<void> {
    await this.#order.catch(() => {});
    this.#stream.abort();
  }

  #pass(): void {
    const { events } = this.#stream;
    for (const { data } of events.slice(this.#heard)) this.onMessage(data ?? "");
    this.#heard = events.length;
  }
}
