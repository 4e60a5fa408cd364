// The limits of a server that apply to every transport, with their defaults.
import { defaultMessageLimits, type MessageLimits } from "../../wire/limits.ts";

/** The limits of a server. */
export interface ServerLimits extends MessageLimits {
  /** Running calls of one connection; further ones are rejected. Listen requests have their own limit. @default {4096} */
  readonly maxInFlight: number;
  /**
   * The estimated memory of all messages, in bytes, from their arrival until the server has answered them. One caller may use
   * at most half of it. @default {134217728}
   */
  readonly maxInFlightBytes: number;
  /**
   * Characters of the reply to one batch. Past it, results are dropped and further calls do not run; each gets an error that says
   * which. @default {4194304}
   */
  readonly maxBatchReplyLength: number;
  /** Queued bytes of one slow reader, before its stream is closed. @default {1048576} */
  readonly maxQueueBytes: number;
  /** Queued bytes of all slow readers and of sessions without a stream, together. @default {67108864} */
  readonly maxTotalQueueBytes: number;
  /** Open listen requests of one connection. @default {100} */
  readonly maxSubscriptions: number;
  /** Rounds of questions in one call. @default {16} */
  readonly maxRounds: number;
  /** URIs that one listen request or one session may subscribe to. @default {1000} */
  readonly maxSubscribedKeys: number;
  /** Characters of these URIs together. @default {131072} */
  readonly maxSubscribedLength: number;
  /** Characters of all subscribed URIs of the server, and 256 for each. @default {67108864} */
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
