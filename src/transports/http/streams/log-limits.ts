// The limits of the logs from which a client that reconnects gets what it missed.

export interface StreamLogLimits {
  /**
   * Bytes that the log of one session keeps for clients that resume, at most 262144. Past it, the server drops the oldest
   * messages, and a client that resumes before them is notified to read everything again. @default {262144}
   */
  readonly maxStreamBytes: number;
  /**
   * Bytes that all logs keep together, in all processes of a backplane. Past it, the server clears the least recently used log
   * of the caller that keeps the most. @default {67108864}
   */
  readonly maxTotalBytes: number;
  /**
   * Sessions that have a log, in a process without a backplane. Past it, the server clears the least recently used log of the
   * caller with the most. @default {10000}
   */
  readonly maxStreams: number;
  /**
   * Milliseconds that the server keeps a log after its last message, and at least as long as its session. After it, the server
   * drops the log. @default {300000}
   */
  readonly keepMs: number;
}

export const defaultStreamLogLimits: StreamLogLimits = {
  maxStreamBytes: 256 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxStreams: 10_000,
  keepMs: 5 * 60_000,
};
