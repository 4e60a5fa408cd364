// Reads of a log: a consumer for each, which delivers page by page, so that the server never sends more than a connection takes.
import { deliveredMessage, type JetStream, type StoredMessage } from "./jetstream.ts";
import type { NatsLink } from "./link.ts";

/** Nanoseconds after which the server forgets a consumer without a reader. */
const inactiveThreshold = 5e9;

/** Milliseconds that a read may take. */
const readMs = 5000;

/**
 * Messages and bytes of a page: the messages of one log usually fit. If messages do not fit, or have expired meanwhile, the
 * server ends the page after some nanoseconds. It also does so if it is too busy to send any in that time.
 */
const page = { batch: 1100, max_bytes: 1536 * 1024, no_wait: true, expires: 100e6 };

/** Statuses with which the server ends a page: there is no message, the time is over, the next message does not fit. */
const endsOfPage: ReadonlySet<number> = new Set([404, 408, 409]);

/** Reads that run at the same time; together they ask for less than the server keeps for a slow connection, 64 MB by default. */
const maxReads = 24;

interface Consumer {
  readonly name: string;
  readonly num_pending: number;
}

export class LogReads {
  readonly #link: NatsLink;
  readonly #jetstream: JetStream;
  readonly #stream: string;
  readonly #inbox: (id: string) => string;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #pages = 0;

  constructor(link: NatsLink, jetstream: JetStream, stream: string, inbox: (id: string) => string) {
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
    const deadline = performance.now() + readMs;
    for (let pending = consumer.num_pending; pending > 0;) {
      const before = messages.length;
      pending = await this.#readPage(consumer, messages);
      if (messages.length === before) pending = await this.#pendingOf(consumer);
      if (performance.now() > deadline) throw new Error(`NATS did not deliver a log within ${readMs} ms`);
    }
    this.#link.publish(`$JS.API.CONSUMER.DELETE.${this.#stream}.${consumer.name}`, new Uint8Array());
    return messages;
  }

  /** How many messages the consumer has not delivered yet. */
  async #pendingOf({ name }: Consumer): Promise<number> {
    return (await this.#jetstream.call<Consumer>(`CONSUMER.INFO.${this.#stream}.${name}`, {})).num_pending;
  }

  /** Reads a page, and resolves with how many messages follow it, according to its last one. */
  async #readPage({ name }: Consumer, messages: StoredMessage[]): Promise<number> {
    const inbox = this.#inbox(String(++this.#pages));
    const before = messages.length;
    let left = Number.POSITIVE_INFINITY;
    let finish = (_left: number): void => {};
    let fail = (_error: Error): void => {};
    const finished = new Promise<number>((resolve, reject) => ([finish, fail] = [resolve, reject]));
    const subscription = this.#link.subscribe(inbox, (message) => {
      const { code = 0 } = message.headers ?? {};
      if (endsOfPage.has(code)) return finish(left);
      // The consumer is gone, so the messages read so far are not the whole log.
      if (code >= 400) return fail(new Error(`NATS stopped to deliver a log, with status ${code}`));
      const { pending, ...stored } = deliveredMessage(message);
      messages.push(stored);
      left = pending;
      if (pending === 0 || messages.length - before === page.batch) finish(left);
    });
    const timer = setTimeout(() => fail(new Error(`NATS did not deliver a log within ${readMs} ms`)), readMs);
    try {
      const next = `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${name}`;
      this.#link.publish(next, new TextEncoder().encode(JSON.stringify(page)), inbox);
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
