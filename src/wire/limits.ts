// What one incoming message may hold, and the defaults. Knows nothing of MCP.

/**
 * Limits on one incoming message; each is applied before anything is validated.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { limits: { maxBytes: 64 * 1024 } });
 * ```
 */
export interface MessageLimits {
  /** Size of the text in UTF-8 bytes. @default {4194304} */
  readonly maxBytes: number;
  /** How deep arrays and objects may nest. @default {64} */
  readonly maxDepth: number;
  /** How many values and keys the message may hold in all. @default {100000} */
  readonly maxElements: number;
  /** How many messages a batch may hold, where the revision has batches. @default {100} */
  readonly maxBatch: number;
}

export const defaultMessageLimits: MessageLimits = {
  maxBytes: 4 * 1024 * 1024,
  maxDepth: 64,
  maxElements: 100_000,
  maxBatch: 100,
};
