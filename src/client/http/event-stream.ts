// One stream of events over all the connections that carry it: the id to resume after, and the ids already delivered.
import { copyOf } from "../../base/errors.ts";
import { type SseEvent, SseReader } from "../../base/wire/sse-reader.ts";
import { type HttpReply, tooLarge } from "./send.ts";
import type { Silence } from "./silence.ts";

/** How many event ids are remembered, so that no event is delivered twice. */
const maxSeen = 1000;
/** The ids that a header can carry. A stream cannot be resumed after others. */
const sendable = /^[\x20-\x7e]+$/;
/**
 * Characters of an event id. All must be visible ASCII or blanks. Past it, the client does not resume the stream after that
 * event.
 */
const maxIdLength = 1024;

export class ReceivedStream {
  readonly #url: string;
  readonly #maxBytes: number;
  readonly #take: (data: string, event: SseEvent) => void;
  /** The ids of past events, oldest first. */
  readonly #seen = new Set<string>();
  #isResumed = false;
  /** The id to resume after. */
  lastId: string | undefined;
  /** How long the server asks to wait before the client reconnects. */
  retryMs = 0;

  /** Calls `take` with the data of each event, unless it is empty. */
  constructor(url: string, maxBytes: number, take: (data: string, event: SseEvent) => void) {
    this.#url = url;
    this.#maxBytes = maxBytes;
    this.#take = take;
  }

  /** Reads one connection. Resolves when it ends; rejects with ConnectionLost if it breaks, with InvalidResponse past a limit. */
  async read(reply: HttpReply, silence?: Silence): Promise<void> {
    const reader = new SseReader(this.#maxBytes, {
      event: (event) => this.#receive(event),
      comment: () => silence?.heardComment(),
      tooLarge: () => {
        throw tooLarge(this.#url, this.#maxBytes);
      },
    });
    try {
      await reply.read((piece) => {
        silence?.heard();
        reader.feed(piece);
      });
    } finally {
      this.#isResumed = this.lastId !== undefined;
    }
  }

  /** Forgets the last id, because the server does not know it: the next connection starts from the beginning. */
  forget(): void {
    this.lastId = undefined;
    this.#isResumed = false;
  }

  #receive(event: SseEvent): void {
    const { id, data, retryMs } = event;
    if (retryMs !== undefined) this.retryMs = retryMs;
    if (id !== undefined) {
      if (this.#isResumed && this.#seen.has(id)) return;
      this.#remember(id);
    }
    if (data) this.#take(data, event);
  }

  #remember(given: string): void {
    this.lastId = undefined;
    if (given.length > maxIdLength || !sendable.test(given)) return;
    const id = copyOf(given);
    this.lastId = id;
    this.#seen.add(id);
    if (this.#seen.size <= maxSeen) return;
    const [oldest = ""] = this.#seen;
    this.#seen.delete(oldest);
  }
}

export function isEventStream(reply: HttpReply): boolean {
  return /^text\/event-stream\b/i.test(reply.header("content-type") ?? "");
}
