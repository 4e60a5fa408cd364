// The options of `connect` and of calls.
import type { ClientCapabilities, Implementation, LogLevel } from "../../protocol/model.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { AuthOption, HeaderFields } from "./auth.ts";
import type { ClientEvent } from "./events.ts";
import type {
  ElicitOption,
  LogEntry,
  NotificationHandlers,
  RequestHandlers,
  RootsOption,
  SampleOption,
} from "./handlers.ts";
import type { Backoff, ClientLimits } from "./limits.ts";
import type { Remembered } from "./remembered.ts";

/** A step of a task that the server reports. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Which requests are sent again when their connection was lost and the server may have run them. Lists, reads, prompts and
 * completions always are. `safe`: also tools with `readOnlyHint` or `idempotentHint`; `always`: every tool; `never`: no tool.
 */
export type Reissue = "safe" | "always" | "never";

/** What `connect` and each call can set. */
export interface CallSettings {
  /**
   * Milliseconds that a request may take without a sign of progress. After it, the call fails with `CallTimeout`, and the
   * server is told to stop. @default {60000}
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds that a call may take in all, with its attempts, rounds, pages and hidden lists. After it, the call fails in
   * the same way. @default {3600000}
   */
  readonly maxTimeMs?: number | undefined;
  /** Which tools are called again after a lost connection. @default {"safe"} */
  readonly reissue?: Reissue | undefined;
  /** Whether a structured result that does not match its tool's output schema throws; otherwise `observe` is told. @default {false} */
  readonly strict?: boolean | undefined;
  /** Whether a tool result with `isError` throws a {@link ToolCallError}. @default {false} */
  readonly throwOnError?: boolean | undefined;
}

/** The options of one request. */
export interface CallOptions extends CallSettings {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Added to the HTTP requests of this call. It then uses no cache, since the headers may be those of another user. */
  readonly headers?: HeaderFields | undefined;
  /** Asks the server even if the cache has an answer. @default {false} */
  readonly fresh?: boolean | undefined;
  /** The lowest level of log messages that a modern server sends about this request. */
  readonly logLevel?: LogLevel | undefined;
  /** Added to the `_meta` of the request. The call then uses no cache. Name the keys `your.domain/name`: MCP reserves others. */
  readonly meta?: JsonObject | undefined;
  /**
   * `return` hands a result that asks for input to you, instead of answering it with the handlers; and the error -32042 of 2025-11-25,
   * whose pages the user must visit. @default {"answer"}
   */
  readonly inputRequired?: "answer" | "return" | undefined;
}

/** The options of `page`. */
export interface PageOptions extends CallOptions {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** The options of `connect`. */
export interface ConnectOptions extends CallSettings {
  /** The name and version that the client gives. @default {{ name: "halyard-client", version }} */
  readonly info?: Implementation | undefined;
  /**
   * The revision to speak; `auto` finds out what the server speaks, and takes the newest; `modern` and `legacy` do so among the revisions
   * of that era. @default {"auto"}
   */
  readonly revision?: string | undefined;
  /** What `client.remember()` returned earlier: saves the question which revision the server speaks. */
  readonly remembered?: Remembered | undefined;
  /** A token, a function that returns one, or an object that obtains credentials. */
  readonly auth?: AuthOption | undefined;
  /** Added to every HTTP request. */
  readonly headers?: HeaderFields | undefined;
  /** Sends HTTP requests. @default {node:http on Node, otherwise the global fetch} */
  readonly fetch?: typeof fetch | undefined;
  /** Answers questions to the user; declares `elicitation`. */
  readonly onElicit?: ElicitOption | undefined;
  /** Asks your model; declares `sampling`. */
  readonly onSample?: SampleOption | undefined;
  /** The folders that the server may work on; declares `roots`. */
  readonly roots?: RootsOption | undefined;
  /** Receives notifications that are not part of the protocol, or of an extension, by their method. For changes, use `client.listen`. */
  readonly onNotification?: NotificationHandlers | undefined;
  /** Answers requests of the server that are not part of the protocol, by their method. */
  readonly onRequest?: RequestHandlers | undefined;
  /** Receives the server's log messages. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** The lowest level of those. @default {"info", if there is onLog} */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Declares the tasks extension: a modern server may then run a call as a task, `callTool` waits for it, and `startTask` returns its
   * handle. The tasks of 2025-11-25 need no declaration. @default {false}
   */
  readonly tasks?: boolean | undefined;
  /**
   * Further capabilities to declare, such as extensions, whose identifiers have the form `vendor.prefix/name`. Modern servers alone
   * are told of `elicitation`, `sampling` and `roots`: declare what you answer yourself, with `inputRequired: "return"`.
   */
  readonly capabilities?:
    | Pick<ClientCapabilities, "elicitation" | "sampling" | "roots" | "experimental" | "extensions">
    | undefined;
  /**
   * Milliseconds that connecting, and each later attempt to reconnect, may take, except while a person signs in. After it,
   * `connect` fails with `CallTimeout`; a later attempt counts as failed. @default {30000}
   */
  readonly connectTimeoutMs?: number | undefined;
  /** How the client waits before it tries again. */
  readonly backoff?: Partial<Backoff> | undefined;
  /** Whether lists and reads are cached as far as the server allows it. @default {true} */
  readonly cache?: boolean | undefined;
  readonly limits?: Partial<ClientLimits> | undefined;
  /** Receives what the client does, as it happens. */
  readonly observe?: ((event: ClientEvent) => void) | undefined;
  /** Receives each message as a line of JSON, without secrets, for {@link replay} of `halyard/testing`. */
  readonly record?: ((line: string) => void) | undefined;
  /** Ends connecting. */
  readonly signal?: AbortSignal | undefined;
}

/** How to start a stdio server. */
export interface CommandTarget {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** @default {the folder of this process} */
  readonly cwd?: string | undefined;
  /** Added to the few variables that the server inherits, such as PATH and HOME. */
  readonly env?: { readonly [name: string]: string } | undefined;
  /** Whether a server that ended is started again, with waits between. @default {false} */
  readonly restart?: boolean | undefined;
  /**
   * Milliseconds that the server may take to end by itself once its input is closed. After it, the client sends SIGTERM, and
   * after as long again SIGKILL, to everything that the server started. @default {2000}
   */
  readonly graceMs?: number | undefined;
}
