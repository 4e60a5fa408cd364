// The limits of a server that hold for every transport, with their defaults.
import { defaultMessageLimits, type MessageLimits } from "../../wire/limits.ts";

/** What a server may hold and accept at most. */
export interface ServerLimits extends MessageLimits {
  /** Calls that one connection may have running; further ones are refused. Listen requests have their own limit. @default {4096} */
  readonly maxInFlight: number;
  /**
   * Bytes of memory that messages may take, by estimate, from when they arrive until they have been answered: all together,
   * and one caller at most half of it. @default {134217728}
   */
  readonly maxInFlightBytes: number;
  /** Bytes that may wait for a slow reader of pushes, before it is dropped. @default {1048576} */
  readonly maxQueueBytes: number;
  /** Bytes that may wait for all slow readers, and for sessions without a stream, together. @default {67108864} */
  readonly maxTotalQueueBytes: number;
  /** Listen requests that one connection may have open. @default {100} */
  readonly maxSubscriptions: number;
  /** Rounds of questions that one call may take. @default {16} */
  readonly maxRounds: number;
  /** URIs that one listen request or one session may subscribe to. @default {1000} */
  readonly maxSubscribedKeys: number;
  /** Characters that these URIs may have together. @default {524288} */
  readonly maxSubscribedLength: number;
  /** Characters of all URIs that are subscribed to, whoever by. @default {67108864} */
  readonly maxTotalSubscribedLength: number;
}

export const defaultLimits: ServerLimits = {
  ...defaultMessageLimits,
  maxInFlight: 4096,
  maxInFlightBytes: 128 * 1024 * 1024,
  maxQueueBytes: 1024 * 1024,
  maxTotalQueueBytes: 64 * 1024 * 1024,
  maxRounds: 16,
  maxSubscriptions: 100,
  maxSubscribedKeys: 1000,
  maxSubscribedLength: 512 * 1024,
  maxTotalSubscribedLength: 64 * 1024 * 1024,
};
