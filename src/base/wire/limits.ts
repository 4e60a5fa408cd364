// The limits of one incoming message, and their defaults. Knows nothing of MCP.

/**
 * Limits on one incoming message. The server applies them before it validates anything.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { limits: { maxBytes: 64 * 1024 } });
 * ```
 */
export interface MessageLimits {
  /**
   * The size of a message, in UTF-8 bytes. Past it, the server responds with -32600; on stdio it skips the rest of the line.
   * @default {4194304}
   */
  readonly maxBytes: number;
  /** How deep the arrays and objects of a message may nest. Past it, the server responds with -32600. @default {64} */
  readonly maxDepth: number;
  /** How many values and keys a message may hold. Past it, the server responds with -32600. @default {100000} */
  readonly maxElements: number;
  /**
   * How many messages a batch may hold, in revisions that have batches. Past it, the server responds with -32600 and handles
   * none of them. @default {100}
   */
  readonly maxBatch: number;
}

export const defaultMessageLimits: MessageLimits = {
  maxBytes: 4 * 1024 * 1024,
  maxDepth: 64,
  maxElements: 100_000,
  maxBatch: 100,
};
