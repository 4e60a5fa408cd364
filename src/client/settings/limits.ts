// The limits of a client, with their defaults: how much a server can make it store, and how long it waits.

/** Limits on how much a server can make the client store. */
export interface ClientLimits {
  /**
   * The size of a message, in UTF-8 bytes after decompression. Past it, the request fails with `InvalidResponse`; a message
   * that belongs to no request is ignored. @default {33554432}
   */
  readonly maxBytes: number;
  /** How deep arrays and objects of a message may nest. Past it, the client does the same. @default {200} */
  readonly maxDepth: number;
  /** How many values and keys a message may hold. Past it, the client does the same. @default {1000000} */
  readonly maxElements: number;
  /** How many messages a batch may hold. Past it, the client ignores the batch. @default {1000} */
  readonly maxBatch: number;
  /** How many requests may wait for their responses at once. Past it, one more call throws. @default {10000} */
  readonly maxInFlight: number;
  /**
   * How many items `listTools` and the other lists collect; iterate over them to get more. Past it, the call fails with
   * `InvalidResponse`. @default {100000}
   */
  readonly maxListItems: number;
  /**
   * About how many bytes the items may take that `listTools` and the other lists collect. Past it, the call fails with
   * `InvalidResponse`. @default {67108864}
   */
  readonly maxListBytes: number;
  /** How many pages one list may have. Past it, the call fails with `InvalidResponse`. @default {1000} */
  readonly maxPages: number;
  /**
   * How many times a call may be answered with further questions. Past it, the call fails with `InvalidResponse`.
   * @default {10}
   */
  readonly maxRounds: number;
  /**
   * How many questions of the server the client answers at once. Past it, the call fails with `InvalidResponse`; a legacy
   * server receives -32603. @default {100}
   */
  readonly maxQuestions: number;
  /**
   * About how many bytes these questions may take, and the states of rounds that wait. Past it, the client does the same.
   * @default {67108864}
   */
  readonly maxQuestionBytes: number;
  /**
   * How many changes wait for a reader of `listen`. Past it, the oldest are replaced by one that says "read again".
   * @default {1024}
   */
  readonly maxChanges: number;
  /** How many results the cache keeps. Past it, the client drops the one that it has not used for longest. @default {1000} */
  readonly maxCached: number;
  /**
   * About how many bytes these results may take. Past it, the client does the same; a result that is larger alone is not kept.
   * @default {67108864}
   */
  readonly maxCachedBytes: number;
  /** How many bytes of standard error are kept of a stdio server. Past it, the client drops the oldest. @default {16384} */
  readonly maxStderrBytes: number;
}

/** The limits of a client without the option `limits`. */
export const defaultClientLimits: ClientLimits = {
  maxBytes: 32 * 1024 * 1024,
  maxDepth: 200,
  maxElements: 1_000_000,
  maxBatch: 1000,
  maxInFlight: 10_000,
  maxListItems: 100_000,
  maxListBytes: 64 * 1024 * 1024,
  maxPages: 1000,
  maxRounds: 10,
  maxQuestions: 100,
  maxQuestionBytes: 64 * 1024 * 1024,
  maxChanges: 1024,
  maxCached: 1000,
  maxCachedBytes: 64 * 1024 * 1024,
  maxStderrBytes: 16 * 1024,
};

/** How a client waits before it tries again. */
export interface Backoff {
  /**
   * Milliseconds of the first wait; each later one is twice as long, and every wait is shortened at random by up to half.
   * @default {500}
   */
  readonly firstMs: number;
  /** Milliseconds of the longest wait. @default {30000} */
  readonly maxMs: number;
  /**
   * How often a connection or stream is tried again; a message that arrives begins the count anew, and attempts while a
   * browser is offline do not end it. Past it, the client is `closed`, or the listening ends; a later call tries once more.
   * @default {20}
   */
  readonly maxAttempts: number;
}

export const defaultBackoff: Backoff = { firstMs: 500, maxMs: 30_000, maxAttempts: 20 };
