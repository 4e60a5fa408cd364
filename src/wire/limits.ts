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
  /** The largest size of the text, in UTF-8 bytes. @default {4194304} */
  readonly maxBytes: number;
  /** How deep arrays and objects may nest. @default {64} */
  readonly maxDepth: number;
  /** How many values and keys the message may hold in total. @default {100000} */
  readonly maxElements: number;
  /** How many messages a batch may hold, in revisions that have batches. @default {100} */
  readonly maxBatch: number;
}

export const defaultMessageLimits: MessageLimits = {
  maxBytes: 4 * 1024 * 1024,
  maxDepth: 64,
  maxElements: 100_000,
  maxBatch: 100,
};
