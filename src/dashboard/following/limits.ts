// The limits of following clients.

export const followingLimits = {
  /** Clients followed at once. Past it, Halyard stops following the one that was not asked about for the longest time. */
  maxFollowed: 20,
  /** Milliseconds without a question about a client. After it, Halyard no longer follows the client, and drops its messages. */
  unaskedMs: 60_000,
  /** Entries of a timeline. Past it, Halyard drops the oldest one that has ended, and the page shows how many. */
  maxEntries: 2000,
  /** Points of an entry. Past it, Halyard drops the oldest one. */
  maxPoints: 200,
  /** Messages of a client. Past it, Halyard drops the oldest one, and the answer says how many. */
  maxMessages: 2000,
  /** Characters of the messages of a client. Past it, Halyard does the same. */
  maxCharacters: 8_388_608,
  /** Characters of a message. Past it, Halyard keeps its id, its method and its name. */
  maxMessageCharacters: 524_288,
  /** Characters of `history`. Past it, Halyard drops the older half of what it keeps. */
  maxHistoryCharacters: 33_554_432,
} as const;
