// A JetStream stream of the cluster: created if it is missing, with an age that is long enough for its messages.
import { ignoreRejection } from "../../base/async/promises.ts";
import { inBackground } from "../../base/async/timers.ts";
import { unusable } from "./connection.ts";
import { apiErrors, type JetStream, type JetStreamReply } from "./jetstream.ts";

/** The differences between the streams of the cluster. */
export interface StreamShape {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly max_msgs_per_subject: number;
  readonly republish?: { readonly src: string; readonly dest: string };
}

interface StreamInfo {
  readonly config: { readonly max_age: number };
  readonly created: string;
  readonly state: { readonly messages: number };
}

/** The shortest `max_age` that the server takes, in milliseconds. */
const shortestAgeMs = 100;

/** Milliseconds after a change until the node checks that it still stands: longer than a request of another node takes. */
const lookAgainMs = 6000;

/** More messages than a stream can take in a millisecond. */
const numbersPerMs = 1000;

/** Attempts to raise the age of a stream. */
const maxAttempts = 20;

export class NatsStream {
  readonly name: string;
  readonly #jetstream: JetStream;
  readonly #shape: StreamShape;
  /** The longest age that this node has written for, and the age that the server keeps; infinite without a limit. */
  #neededMs = shortestAgeMs;
  #maxAgeMs = 0;
  #created = "";
  #raising: Promise<void> | undefined;

  constructor(jetstream: JetStream, shape: StreamShape) {
    this.#jetstream = jetstream;
    this.#shape = shape;
    this.name = shape.name;
  }

  /** Differs from the epoch of a stream with the same name that the server had before and lost. */
  get epoch(): string {
    return this.#created;
  }

  /** Added to the numbers of messages: greater than any number of a stream with this name that the server has lost. */
  get base(): number {
    return Number.parseInt(this.#created, 36) * numbersPerMs;
  }

  /** Milliseconds after which the server removes every message. */
  get maxAgeMs(): number {
    return this.#maxAgeMs;
  }

  /** Creates the stream, unless it exists. */
  async ensure(): Promise<void> {
    const expected = [apiErrors.streamExists, apiErrors.subjectsOverlap];
    const config = this.#newConfig();
    const reply = await this.#jetstream.call<StreamInfo>(`STREAM.CREATE.${this.name}`, config, expected);
    if (reply.error === undefined) return void this.#learn(reply);
    // The error also occurs with the subjects of this same stream, while another node creates it in a cluster of servers.
    const found = await this.#find([apiErrors.noStream]);
    if (!found.error) return this.#raise();
    const subjects = this.#shape.subjects.join(", ");
    throw unusable(`has a stream that takes ${subjects}: pass another \`prefix\`, or remove that stream`);
  }

  /** Makes the server keep messages for this age; for ever if it is undefined. */
  async keep(ageMs: number | undefined): Promise<void> {
    const neededMs = ageMs ?? Number.POSITIVE_INFINITY;
    while (neededMs > this.#maxAgeMs) {
      this.#neededMs = Math.max(this.#neededMs, neededMs);
      this.#raising ??= this.#raise().finally(() => (this.#raising = undefined));
      await this.#raising;
    }
  }

  /** Whether the server still has the stream that this node knows. */
  async isSame(): Promise<boolean> {
    const { created } = await this.#find();
    return epochOf(created) === this.#created;
  }

  async count(): Promise<number> {
    return this.#learn(await this.#find()).state.messages;
  }

  /** Raises the age. It is never lowered, because another node may need it, and an operator's higher setting is kept. */
  async #raise(): Promise<void> {
    let { config } = this.#learn(await this.#find());
    if (this.#neededMs <= this.#maxAgeMs) return;
    for (let attempt = 1; this.#neededMs > this.#maxAgeMs; attempt++) {
      const raised = { ...config, max_age: nanosecondsOf(this.#neededMs) };
      // In a cluster of servers, nodes that raise the age at the same time may get the error that the stream overlaps with
      // itself.
      const expected = attempt < maxAttempts ? [apiErrors.subjectsOverlap] : [];
      await this.#jetstream.call(`STREAM.UPDATE.${this.name}`, raised, expected);
      ({ config } = this.#learn(await this.#find()));
    }
    // Another node may have raised it at the same time, to a lower age, without seeing this change.
    inBackground(setTimeout(() => void ignoreRejection(this.#raise()), lookAgainMs));
  }

  #find(expected: readonly number[] = []): Promise<JetStreamReply<StreamInfo>> {
    return this.#jetstream.call<StreamInfo>(`STREAM.INFO.${this.name}`, undefined, expected);
  }

  #learn(info: StreamInfo): StreamInfo {
    const { max_age } = info.config;
    this.#maxAgeMs = max_age === 0 ? Number.POSITIVE_INFINITY : max_age / 1e6;
    this.#created = epochOf(info.created);
    return info;
  }

  #newConfig(): object {
    return {
      ...this.#shape,
      // With several replicas, servers of 2.9 may let more than one concurrent writer replace a value.
      num_replicas: 1,
      retention: "limits",
      storage: "file",
      discard: "old",
      max_consumers: -1,
      max_msgs: -1,
      max_bytes: -1,
      max_msg_size: -1,
      max_age: nanosecondsOf(this.#neededMs),
      // No message here has an id, and the window must not exceed the age.
      duplicate_window: nanosecondsOf(shortestAgeMs),
    };
  }
}

function epochOf(created: string): string {
  return Date.parse(created).toString(36);
}

/** The unit of the server, where 0 means for ever. */
function nanosecondsOf(timeMs: number): number {
  return timeMs === Number.POSITIVE_INFINITY ? 0 : Math.ceil(timeMs) * 1e6;
}
