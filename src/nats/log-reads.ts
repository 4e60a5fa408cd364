// Reads of a log: a consumer for each, which delivers everything at once, in one round trip.
import { deliveredMessage, type JetStream, type StoredMessage } from "./jetstream.ts";
import type { Link } from "./link.ts";

/** Nanoseconds without a delivery after which the server says that nothing is left, and after which it forgets a consumer without a reader. */
const [idleHeartbeat, inactiveThreshold] = [250e6, 5e9];

/** Milliseconds that a read may take. */
const readMs = 5000;

interface Consumer {
  readonly name: string;
  readonly num_pending: number;
  readonly delivered: { readonly consumer_seq: number };
}

export class LogReads {
  readonly #link: Link;
  readonly #jetstream: JetStream;
  readonly #stream: string;
  readonly #inbox: (id: string) => string;
  #reads = 0;

  constructor(link: Link, jetstream: JetStream, stream: string, inbox: (id: string) => string) {
    this.#link = link;
    this.#jetstream = jetstream;
    this.#stream = stream;
    this.#inbox = inbox;
  }

  /** The messages of a subject with this number or a later one. */
  async read(subject: string, from: number): Promise<readonly StoredMessage[]> {
    const inbox = this.#inbox(String(++this.#reads));
    const messages: StoredMessage[] = [];
    let finish = (): void => {};
    let fail = (_error: Error): void => {};
    const finished = new Promise<void>((resolve, reject) => ([finish, fail] = [resolve, reject]));
    finished.catch(() => {});
    const subscription = this.#link.subscribe(inbox, (message) => {
      const isHeartbeat = message.headers?.code === 100;
      if (isHeartbeat) return finish();
      const { pending, ...stored } = deliveredMessage(message);
      messages.push(stored);
      if (pending === 0) finish();
    });
    const timer = setTimeout(() => fail(new Error(`NATS did not deliver a log within ${readMs} ms`)), readMs);
    try {
      const consumer = await this.#create(subject, inbox, from);
      const isEmpty = consumer.num_pending + consumer.delivered.consumer_seq === 0;
      if (!isEmpty) await this.#link.unlessLost(finished);
      this.#link.publish(`$JS.API.CONSUMER.DELETE.${this.#stream}.${consumer.name}`, new Uint8Array());
      return messages;
    } finally {
      clearTimeout(timer);
      subscription.unsubscribe();
    }
  }

  async #create(subject: string, inbox: string, from: number): Promise<Consumer> {
    const config = {
      deliver_subject: inbox,
      filter_subject: subject,
      deliver_policy: "by_start_sequence",
      opt_start_seq: from,
      ack_policy: "none",
      idle_heartbeat: idleHeartbeat,
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
