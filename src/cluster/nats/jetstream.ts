// The requests of JetStream that Halyard needs: JSON in both directions, and messages that a stream stores.
import type { NatsMessage } from "./connection.ts";
import type { NatsLink, NatsHeaders } from "./link.ts";
import { textFromBase64 } from "../../base/wire/base64.ts";

/** The errors of JetStream that Halyard handles, by their meaning. */
export const apiErrors = {
  noMessage: 10037,
  disabledForAccount: 10039,
  messageNotDeleted: 10057,
  streamExists: 10058,
  noStream: 10059,
  subjectsOverlap: 10065,
  wrongSequence: 10071,
} as const;

/** The error of JetStream for an operation that failed. */
interface ApiError {
  readonly err_code: number;
  readonly description: string;
}

/** The reply of JetStream to a request. */
export type JetStreamReply<Result> = Result & { readonly error?: ApiError };

/** A message as a stream stores it. */
export interface StoredMessage {
  readonly sequence: number;
  readonly text: string;
  /** When the engine stored it, by its own clock. */
  readonly storedAt: number;
  /** How many milliseconds it is valid from then on; undefined for ever. */
  readonly ttlMs: number | undefined;
  /** Only for an entry: the number of the first one that its log ever had, as far as the appending node knew. */
  readonly since: number | undefined;
  /** Of an entry: how many bytes its log keeps; as many as any log without. */
  readonly maxBytes: number | undefined;
}

/** The headers of a message. */
interface PublishOptions {
  readonly ttlMs: number | undefined;
  readonly since?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** The number that the newest message of the subject must have; 0 if there must be none. */
  readonly last?: number;
}

const [ttlHeader, sinceHeader] = ["Halyard-Ttl", "Halyard-Since"];
export const maxBytesHeader = "Halyard-Max-Bytes";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class JetStream {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  /** Calls the API. Errors in `expected` are returned for the caller to handle. */
  async call<Result>(
    name: string,
    body: object | undefined,
    expected: readonly number[] = [],
  ): Promise<JetStreamReply<Result>> {
    const payload = encoder.encode(body && JSON.stringify(body));
    return this.#replyOf<Result>(await this.#request(`$JS.API.${name}`, payload), expected);
  }

  /** Stores a message, and resolves with its sequence number, or with undefined if `last` is wrong. */
  async publish(
    subject: string,
    text: string,
    { ttlMs, since, maxBytes, last }: PublishOptions,
  ): Promise<number | undefined> {
    const expected = { "Nats-Expected-Last-Subject-Sequence": last };
    const own = { [ttlHeader]: ttlMs, [sinceHeader]: since, [maxBytesHeader]: maxBytes };
    const headers = headersOf({ ...own, ...expected });
    const message = await this.#request(subject, encoder.encode(text), headers);
    const { error, seq } = this.#replyOf<{ seq: number }>(message, [apiErrors.wrongSequence]);
    return error ? undefined : seq;
  }

  /** The newest message of a subject, the one with a number, or the first of a subject from a number on. */
  async find(
    stream: string,
    which: { last_by_subj: string } | { seq: number; next_by_subj?: string },
  ): Promise<StoredMessage | undefined> {
    type Found = { message: { seq: number; data?: string; hdrs?: string; time: string } };
    const expected = [apiErrors.noMessage];
    const { error, message } = await this.call<Found>(`STREAM.MSG.GET.${stream}`, which, expected);
    if (error) return undefined;
    const text = textFromBase64(message.data ?? "");
    if (text === undefined) return undefined;
    const headers = textFromBase64(message.hdrs ?? "") ?? "";
    const field = (name: string): number | undefined =>
      numberIn(new RegExp(`^${name}: (\\d+)`, "m").exec(headers)?.[1]);
    const [ttlMs, since, maxBytes] = [field(ttlHeader), field(sinceHeader), field(maxBytesHeader)];
    return { sequence: message.seq, text, storedAt: Date.parse(message.time), ttlMs, since, maxBytes };
  }

  async #request(subject: string, payload: Uint8Array, headers?: NatsHeaders): Promise<NatsMessage> {
    try {
      return await this.#link.request(subject, payload, headers);
    } catch (error) {
      if (!isNoResponders(error)) throw error;
      const missing = new Error(`JetStream does not take ${subject}: it is disabled, or the stream is gone`, {
        cause: error,
      });
      this.#link.interrupt(missing);
      throw missing;
    }
  }

  #replyOf<Result>(message: NatsMessage, expected: readonly number[]): JetStreamReply<Result> {
    const reply = JSON.parse(decoder.decode(message.data)) as JetStreamReply<Result>;
    const { error } = reply;
    if (error === undefined || expected.includes(error.err_code)) return reply;
    const failure = new Error(`JetStream: ${error.description} (${error.err_code})`, { cause: error });
    if (error.err_code === apiErrors.noStream) this.#link.interrupt(failure);
    throw failure;
  }
}

/** A delivered message of a push consumer. Its reply subject contains its position in the stream. */
export function deliveredMessage({ data, reply, headers }: NatsMessage): StoredMessage & { pending: number } {
  // $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<nanoseconds>.<pending>: newer servers put two tokens
  // before the stream and one at the end.
  const tokens = (reply ?? "").split(".");
  const [sequence, , nanoseconds, pending] = tokens.slice(tokens.length > 9 ? 7 : 5);
  return {
    sequence: Number(sequence),
    text: decoder.decode(data),
    storedAt: Number(nanoseconds) / 1e6,
    ttlMs: numberIn(headers?.get(ttlHeader)),
    since: numberIn(headers?.get(sinceHeader)),
    maxBytes: numberIn(headers?.get(maxBytesHeader)),
    pending: Number(pending),
  };
}

export function numberIn(text: string | undefined): number | undefined {
  return text ? Number(text) : undefined;
}

function headersOf(fields: Readonly<Record<string, number | undefined>>): NatsHeaders | undefined {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  if (lines.length === 0) return undefined;
  const bytes = encoder.encode(`NATS/1.0\r\n${lines.join("")}\r\n`);
  return { encode: () => bytes };
}

/** Whether a request failed because its subject has no responder. The two generations of the client report that differently. */
export function isNoResponders(error: unknown): boolean {
  const { isNoResponders: says, code } = error as { isNoResponders?: () => boolean; code?: unknown };
  return (typeof says === "function" && says.call(error)) || code === "503";
}
