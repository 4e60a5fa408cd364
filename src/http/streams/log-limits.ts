// The limits of the logs from which a client that reconnects gets what it missed.

export interface StreamLogLimits {
  /** Bytes that the log of one session keeps, at most 262144. @default {262144} */
  readonly maxStreamBytes: number;
  /** Bytes that all logs keep together, in all processes of a backplane. @default {67108864} */
  readonly maxTotalBytes: number;
  /** Sessions that have a log, in a process without a backplane. @default {10000} */
  readonly maxStreams: number;
  /** Milliseconds that a log is kept after its last message, and at least as long as its session. @default {300000} */
  readonly keepMs: number;
}

export const defaultStreamLogLimits: StreamLogLimits = {
  maxStreamBytes: 256 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxStreams: 10_000,
  keepMs: 5 * 60_000,
};
