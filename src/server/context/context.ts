// The context that a handler receives: who is calling, and how to reach them while the call runs.
import type {
  AskOptions,
  Elicited,
  Root,
  Sampled,
  SampleOptions,
  SamplingMessage,
  UrlAskOptions,
} from "../../protocol/asking.ts";
import type { AnySchema, Validated } from "../../protocol/schema/compile.ts";
import type { ClientCapabilities, Implementation, LogLevel, Principal } from "../../protocol/model.ts";
import type { JsonObject, RequestId } from "../../base/wire/message.ts";

/**
 * The context of one call: the second argument of every handler.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("copy", {}, async (_, ctx) => {
 *   for (let done = 1; done <= 3 && !ctx.signal.aborted; done++) {
 *     ctx.progress(done, 3, `File ${done}`);
 *   }
 *   ctx.log("info", { copied: 3 });
 *   return "Copied 3 files";
 * });
 * ```
 */
export interface Context extends Questions {
  /** The id of the request. */
  readonly id: RequestId;
  /** The method of the request, such as `tools/call`. */
  readonly method: string;
  /** The date of the request's protocol revision. */
  readonly revision: string;
  /** `modern`: the request stands alone (2026-07-28 and later); `legacy`: a handshake came first. */
  readonly era: "modern" | "legacy";
  /** How the client describes itself. Do not trust it. */
  readonly client: Implementation | undefined;
  /** What the client says it can do, such as `elicitation`. */
  readonly clientCapabilities: ClientCapabilities;
  /** The session id of a legacy client, if it has one. */
  readonly session: string | undefined;
  /** Who is calling, if the transport authenticates. */
  readonly principal: Principal | undefined;
  /** How the request arrived: `http`, `sse`, `stdio`, `memory`, or the name that a transport of your own gives. */
  readonly transport: string;
  /** The `_meta` of the request. */
  readonly meta: JsonObject;
  /** The headers of the HTTP request, by names in lower case, without `authorization` if the endpoint has `auth`. */
  readonly headers: Readonly<Record<string, string | undefined>> | undefined;
  /** The address of the caller: of the last proxy, unless `trustProxy` is set. Undefined where the transport has none. */
  readonly address: string | undefined;
  /** Aborts when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /**
   * Continues the call as a task, for a tool with `task: { starts: "handler" }`: the client gets a task handle immediately
   * and fetches the result later. Resolves with false if the client does not support tasks and waits for the result.
   * Throws in a tool without `task`.
   */
  startTask(): Promise<boolean>;
  /**
   * Sends a request to a legacy client and resolves with its result. It uses the stream of this call, or else another stream
   * of the session, and rejects if there is neither. Modern clients accept no requests.
   */
  ask(method: string, params?: object, options?: { readonly timeoutMs?: number }): Promise<JsonObject>;
  /** Reports progress, if the client asked for it. A report that does not increase is dropped. */
  progress(progress: number, total?: number, message?: string): void;
  /**
   * Sends a log message to the client, if it wants messages of that level. A legacy client gets `info` and above unless it sets
   * another level; a modern client gets none unless its request sets one. Messages after the end of the call are dropped.
   */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /**
   * Sends a notification of your own on the stream of this call, to clients of every revision. Throws for a notification of the
   * protocol. Like progress, it is dropped if the call has ended, if there is no stream, or if the client reads too slowly.
   */
  notify(method: string, params?: JsonObject): Promise<void>;
  /**
   * Closes the stream of a long-running call. The client reconnects to get the messages since then, and the result. Does
   * nothing if the client could not reconnect: over other transports than Streamable HTTP, without a session, or under a
   * revision whose streams do not begin with an event to resume from.
   */
  closeStream(): void;
}

/** The questions that a handler can ask its client. */
export interface Questions {
  /**
   * Asks the user to fill in a form, from the schema of an object of plain fields, or to open a page. Resolves with the
   * content of the form. Throws {@link InputDeclined} or {@link InputCancelled} if the user declines or cancels.
   *
   * A modern client gets the question as the result of this call and retries the call with the answer. The handler then runs
   * from the start, and the same `await` returns the answer. Put work that must not run twice into `ctx.once`.
   */
  elicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<S extends URL ? void : Validated<S>>;
  /** Like `elicit`, but resolves with the user's action instead of throwing. */
  tryElicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<Elicited<S extends URL ? undefined : Validated<S>>>;
  /** Asks the client's model. A string is one user message. */
  sample(messages: string | readonly SamplingMessage[], options?: SampleOptions): Promise<Sampled>;
  /** Asks the client for its roots: the files and folders that the server may use. */
  roots(options?: AskOptions): Promise<readonly Root[]>;
  /**
   * Runs work that later rounds of this call must not repeat. Its result must be JSON; it travels with the client, which
   * cannot read it. Errors are not kept. A client that resends an earlier round repeats the work, unless request state is
   * `singleUse`.
   */
  once<T>(key: string, work: () => T | Promise<T>): Promise<T>;
  /** The answers to the questions of `inputRequired({ … })`, by key. */
  readonly inputResponses: { readonly [key: string]: JsonObject } | undefined;
  /** The value that `inputRequired({ requestState })` kept. */
  requestState<T>(): T | undefined;
}
