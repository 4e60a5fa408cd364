// Reads of a log: a consumer for each, which delivers page by page, so that the server never sends more than a connection takes.
import { deliveredMessage, type JetStream, type StoredMessage } from "./jetstream.ts";
import type { Link } from "./link.ts";

/** Nanoseconds after which the server forgets a consumer without a reader. */
const inactiveThreshold = 5e9;

/** Milliseconds that a read may take. */
const readMs = 5000;

/** What the server may send at once. */
interface Page {
  readonly batch: number;
  readonly max_bytes?: number;
  readonly no_wait: true;
  readonly expires?: number;
}

/**
 * Messages and bytes of a page: what the server has of a log usually fits. If messages do not fit, or have become too old meanwhile,
 * the server says so after some nanoseconds. It says the same if it is too busy to send any in that time.
 */
const page: Page = { batch: 1100, max_bytes: 1536 * 1024, no_wait: true, expires: 100e6 };

/** Without a time, the server says at once that there is no message. */
const nextMessage: Page = { batch: 1, no_wait: true };

/** Statuses of the server: there is no message; the time is over; the next message does not fit. */
const [noMessage, timeOver, tooLarge] = [404, 408, 409];

/** Reads that run at the same time; together they ask for less than the server keeps for a slow connection, 64 MB by default. */
const maxReads = 24;

interface Consumer {
  readonly name: string;
  readonly num_pending: number;
}

export class LogReads {
  readonly #link: Link;
  readonly #jetstream: JetStream;
  readonly #stream: string;
  readonly #inbox: (id: string) => string;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #pages = 0;

  constructor(link: Link, jetstream: JetStream, stream: string, inbox: (id: string) => string) {
    this.#link = link;
    this.#jetstream = jetstream;
    this.#stream = stream;
    this.#inbox = inbox;
  }

  /** The messages of a subject with this number or a later one. */
  async read(subject: string, from: number): Promise<readonly StoredMessage[]> {
    if (this.#running >= maxReads) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      return await this.#readPages(subject, from);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  async #readPages(subject: string, from: number): Promise<readonly StoredMessage[]> {
    const consumer = await this.#create(subject, from);
    const messages: StoredMessage[] = [];
    let wanted = page;
    while (consumer.num_pending > 0) {
      const before = messages.length;
      if (await this.#readPage(consumer, wanted, messages)) break;
      wanted = messages.length === before ? nextMessage : page;
    }
    this.#link.publish(`$JS.API.CONSUMER.DELETE.${this.#stream}.${consumer.name}`, new Uint8Array());
    return messages;
  }

  /** Reads a page, and resolves with whether it is known to be the last. */
  async #readPage({ name }: Consumer, wanted: Page, messages: StoredMessage[]): Promise<boolean> {
    const inbox = this.#inbox(String(++this.#pages));
    const before = messages.length;
    let finish = (_isLast: boolean): void => {};
    let fail = (_error: Error): void => {};
    const finished = new Promise<boolean>((resolve, reject) => ([finish, fail] = [resolve, reject]));
    const subscription = this.#link.subscribe(inbox, (message) => {
      const { code = 0 } = message.headers ?? {};
      if (code === noMessage) return finish(true);
      if (code === timeOver || code === tooLarge) return finish(false);
      // The consumer is gone: what was read so far is not the log.
      if (code >= 400) return fail(new Error(`NATS stopped to deliver a log, with status ${code}`));
      const { pending, ...stored } = deliveredMessage(message);
      messages.push(stored);
      if (pending === 0) finish(true);
      else if (messages.length - before === wanted.batch) finish(false);
    });
    const timer = setTimeout(() => fail(new Error(`NATS did not deliver a log within ${readMs} ms`)), readMs);
    try {
      const next = `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${name}`;
      this.#link.publish(next, new TextEncoder().encode(JSON.stringify(wanted)), inbox);
      return await this.#link.unlessLost(finished);
    } finally {
      clearTimeout(timer);
      subscription.unsubscribe();
    }
  }

  async #create(subject: string, from: number): Promise<Consumer> {
    const config = {
      filter_subject: subject,
      deliver_policy: "by_start_sequence",
      opt_start_seq: from,
      ack_policy: "none",
      inactive_threshold: inactiveThreshold,
      mem_storage: true,
      num_replicas: 1,
    };
    return this.#jetstream.call<Consumer>(`CONSUMER.CREATE.${this.#stream}`, {
      stream_name: this.#stream,
      config,
    });
  }
}
