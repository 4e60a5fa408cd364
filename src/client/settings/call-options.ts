// The options of calls: their types, kinds and defaults.
import {
  flag,
  func,
  type Kind,
  type Known,
  milliseconds,
  oneOf,
  plainObject,
  preset,
  signal,
  text,
  textRecord,
} from "../../base/kinds.ts";
import type { Filled } from "../../base/options.ts";
import type { HeaderFields } from "./auth.ts";
import { type LogLevel, logLevels } from "../../protocol/model.ts";
import type { JsonObject } from "../../base/wire/message.ts";

/** A progress report of the server. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Which requests are sent again after a lost connection although the server may have run them. Lists, reads, prompts and
 * completions always are. `safe`: also tools with `readOnlyHint` or `idempotentHint`; `always`: every tool; `never`: no tool.
 */
export type Reissue = "safe" | "always" | "never";

/** The options of both `connect` and each call. */
export interface CallSettings {
  /**
   * Milliseconds that a request may take without a sign of progress. After it, the call fails with `CallTimeout`, and the
   * client cancels it at the server. @default {60000}
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds that a call may take in all, with its attempts, rounds, pages and hidden lists. After it, the call fails in
   * the same way. @default {3600000}
   */
  readonly maxTimeMs?: number | undefined;
  /** Which tools are called again after a lost connection. @default {"safe"} */
  readonly reissue?: Reissue | undefined;
  /**
   * Whether a structured result that does not match its tool's output schema throws. If not, it is reported to `observe`.
   * @default {false}
   */
  readonly strict?: boolean | undefined;
  /** Whether a tool result with `isError` throws a {@link ToolCallError}. @default {false} */
  readonly throwOnError?: boolean | undefined;
}

export const knownCallSettings: Known<CallSettings, Filled<CallSettings>> = {
  timeoutMs: preset(milliseconds, 60_000),
  maxTimeMs: preset(milliseconds, 3_600_000),
  reissue: preset(oneOf("safe", "always", "never"), "safe"),
  strict: preset(flag, false),
  throwOnError: preset(flag, false),
};

/** The options of one request. */
export interface CallOptions extends CallSettings {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Added to the HTTP requests of this call. The call then bypasses the cache, because the headers may be those of another user.
   */
  readonly headers?: HeaderFields | undefined;
  /** Requests from the server even if the cache has a result. @default {false} */
  readonly fresh?: boolean | undefined;
  /** The lowest level of log messages that a modern server sends about this request. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Added to the `_meta` of the request. The call then bypasses the cache. Name the keys `your.domain/name`: MCP reserves others.
   */
  readonly meta?: JsonObject | undefined;
  /**
   * With `return`, you receive a result that asks for input, instead of the handlers. You also receive the error -32042 of
   * 2025-11-25, whose pages the user must visit. @default {"answer"}
   */
  readonly inputRequired?: "answer" | "return" | undefined;
}

export const logLevel: Kind<LogLevel> = oneOf(...logLevels);

export const knownCallOptions: Known<CallOptions> = {
  ...knownCallSettings,
  signal,
  onProgress: func,
  headers: textRecord,
  fresh: flag,
  logLevel,
  meta: plainObject,
  inputRequired: oneOf("answer", "return"),
};

/** The options of `page`. */
export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export const knownPageOptions: Known<PageOptions> = { ...knownCallOptions, cursor: text };

/** The options of `complete`. */
export interface CompleteOptions extends CallOptions {
  /** The other arguments of the prompt or template that already have a value. */
  readonly context?: { readonly [name: string]: string } | undefined;
}

export const knownCompleteOptions: Known<CompleteOptions> = { ...knownCallOptions, context: textRecord };

/** The options of `startTask`. */
export interface StartTaskOptions extends CallOptions {
  /** How long the server should keep the task. Only servers of 2025-11-25 receive it; others decide themselves. */
  readonly ttlMs?: number | undefined;
}

export const knownStartTaskOptions: Known<StartTaskOptions> = { ...knownCallOptions, ttlMs: milliseconds };
