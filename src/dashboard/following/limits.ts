// The limits of following clients; SECURITY.md lists them.

export const followingLimits = {
  /** Clients that one node follows at the same time. */
  maxFollowed: 20,
  /** Milliseconds without a question after which a client is no longer followed. */
  unaskedMs: 60_000,
  /** Entries that the timeline of one client keeps. */
  maxEntries: 2000,
  /** Points that one bar keeps. */
  maxPoints: 200,
  /** Messages that are kept of one client. */
  maxMessages: 2000,
  /** Characters that the messages of one client have together. */
  maxCharacters: 8_388_608,
  /** Characters of a message that is kept whole. */
  maxMessageCharacters: 524_288,
  /** Characters that the messages of `history` have together. */
  maxHistoryCharacters: 33_554_432,
} as const;
