// The limits of the HTTP transport, with their defaults.
import { defaultSessionLimits, type SessionLimits } from "../../server/session/limits.ts";
import { defaultListenLimits, type ListenLimits } from "./streams/listens.ts";

/** The limits of the logs from which a client that reconnects gets what it missed. */
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

/** The limits of the HTTP transport. */
export interface HttpLimits extends SessionLimits, StreamLogLimits, ListenLimits {
  /**
   * Addresses, and as many principals, that the rate limits count separately. Past it, further ones are counted as one.
   * @default {10000}
   */
  readonly maxCallers: number;
  /**
   * Bytes of responses and events that all slow clients together have not read yet; one connection counts for a quarter at
   * most. Past it, the caller with the most loses the connection that has read nothing for longest. @default {67108864}
   */
  readonly maxUnsentBytes: number;
}

/**
 * The limits of the HTTP transport that {@link HttpOptions.limits} does not set.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { defaultHttpLimits, nodeHandler } from "halyard/node";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const handler = nodeHandler(server, { limits: { maxSessions: defaultHttpLimits.maxSessions / 10 } });
 * await handler.close();
 * ```
 */
export const defaultHttpLimits: HttpLimits = {
  ...defaultSessionLimits,
  ...defaultListenLimits,
  maxStreamBytes: 256 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxStreams: 10_000,
  keepMs: 5 * 60_000,
  maxCallers: 10_000,
  maxUnsentBytes: 64 * 1024 * 1024,
};
