// The limits of following clients.

export interface FollowingLimits {
  /** Clients that one node follows at the same time. @default {20} */
  readonly maxFollowed: number;
  /** Entries that the timeline of one client keeps. @default {2000} */
  readonly maxEntries: number;
  /** Messages that are kept of one client. @default {2000} */
  readonly maxMessages: number;
  /** Characters that the messages of one client may have together. @default {8388608} */
  readonly maxMessageBytes: number;
  /** Points that one bar keeps. @default {200} */
  readonly maxPoints: number;
  /** Milliseconds without a question after which a client is no longer followed. @default {60000} */
  readonly unaskedMs: number;
  /** Messages that `history` may keep of all clients. @default {10000} */
  readonly maxHistory: number;
  /** Characters that the messages of `history` may have together. @default {33554432} */
  readonly maxHistoryBytes: number;
}

export const followingLimits: FollowingLimits = {
  maxFollowed: 20,
  maxEntries: 2000,
  maxMessages: 2000,
  maxMessageBytes: 8 * 1024 * 1024,
  maxPoints: 200,
  unaskedMs: 60_000,
  maxHistory: 10_000,
  maxHistoryBytes: 32 * 1024 * 1024,
};
