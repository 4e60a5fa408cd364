// The limits of a server that apply to every transport, with their defaults.
import { defaultMessageLimits, type MessageLimits } from "../../base/wire/limits.ts";

/** The limits of a server. */
export interface ServerLimits extends MessageLimits {
  /**
   * Running calls of one connection. Listen requests have their own limit. Past it, the server rejects further calls with
   * -32600. @default {4096}
   */
  readonly maxInFlight: number;
  /**
   * The estimated memory of all messages, in bytes, from their arrival until the server has answered them. One caller may use
   * at most half of it. Past it, HTTP responds with 429 to a caller that has too much, and with 503 if others use everything,
   * both with `Retry-After`; a pipe gets -32600. @default {134217728}
   */
  readonly maxInFlightBytes: number;
  /**
   * Characters of the reply to one batch. Past it, the server drops further results (-32603) and does not run further calls
   * (-32600); each error says which. @default {4194304}
   */
  readonly maxBatchReplyLength: number;
  /**
   * Bytes that wait for one slow reader. Past it, the server closes its stream; a session over HTTP is notified to read
   * everything again. @default {1048576}
   */
  readonly maxQueueBytes: number;
  /**
   * Bytes that wait for all slow readers and for sessions without a stream, together. Past it, the server treats one reader as
   * past its own limit: of the caller with the most waiting, the reader that has waited longest. @default {67108864}
   */
  readonly maxTotalQueueBytes: number;
  /** Open listen requests of one connection. Past it, the server rejects further ones with -32600. @default {100} */
  readonly maxSubscriptions: number;
  /** Rounds of questions in one call. Past it, a call that would ask again fails with -32603. @default {16} */
  readonly maxRounds: number;
  /**
   * URIs that one listen request or one session may subscribe to. Past it, the server responds with -32602 to a listen
   * request, and with -32600 to `resources/subscribe`. @default {1000}
   */
  readonly maxSubscribedKeys: number;
  /** Characters of these URIs together. Past it, the server responds in the same way. @default {131072} */
  readonly maxSubscribedLength: number;
  /**
   * Characters of all subscribed URIs of the server, and 256 for each. Past it, the server rejects with -32600 what would give
   * a caller more than remains for all others. @default {67108864}
   */
  readonly maxTotalSubscribedLength: number;
}

export const defaultLimits: ServerLimits = {
  ...defaultMessageLimits,
  maxInFlight: 4096,
  maxInFlightBytes: 128 * 1024 * 1024,
  maxBatchReplyLength: 4 * 1024 * 1024,
  maxQueueBytes: 1024 * 1024,
  maxTotalQueueBytes: 64 * 1024 * 1024,
  maxRounds: 16,
  maxSubscriptions: 100,
  maxSubscribedKeys: 1000,
  maxSubscribedLength: 128 * 1024,
  maxTotalSubscribedLength: 64 * 1024 * 1024,
};
