// What a handler gets beside its arguments: who asks, and the ways back to them while the call runs.
import type {
  AskOptions,
  Elicited,
  Root,
  Sampled,
  SampleOptions,
  SamplingMessage,
  UrlAskOptions,
} from "../../protocol/asking.ts";
import type { AnySchema, Validated } from "../../schema/compile.ts";
import type { ClientCapabilities, Implementation, LogLevel, Principal } from "../../protocol/model.ts";
import type { JsonObject, RequestId } from "../../wire/message.ts";

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
  readonly method: string;
  /** The date of the protocol revision that this request is answered under. */
  readonly revision: string;
  /** What the client says it is: not to be trusted. */
  readonly client: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** The session, for a legacy client that has one. */
  readonly session: string | undefined;
  /** Who is calling, where the transport authenticates. */
  readonly principal: Principal | undefined;
  readonly transport: string;
  /** The `_meta` of the request. */
  readonly meta: JsonObject;
  /** The headers of the HTTP request; without `authorization` where the endpoint has `auth`. */
  readonly headers: Readonly<Record<string, string | undefined>> | undefined;
  readonly address: string | undefined;
  /** Aborts when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  /**
   * Goes on as a task from here, for a tool that says so: the client is told, and comes back for the result. False where
   * the client knows no tasks, and waits.
   */
  startTask(): Promise<boolean>;
  /**
   * Sends a request to the client and waits for its result: for legacy clients only. It goes on the stream of this call, else
   * on another stream of the session; without either it rejects.
   */
  ask(method: string, params?: object, options?: { readonly timeoutMs?: number }): Promise<JsonObject>;
  /** Reports progress, if the client asked for it; a report that does not increase is left out. */
  progress(progress: number, total?: number, message?: string): void;
  /**
   * Sends a log message to the client, if it wants messages of that level. A legacy client gets `info` and above unless
   * it asks for another level; a modern one gets none unless its request asks. After the call has ended it goes nowhere.
   */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /**
   * Sends a notification of your own on the stream of this call, to clients of every revision. What the protocol has is not
   * yours to send: it throws. As with progress, nothing is sent once the call has ended, where there is no stream, or while the
   * client is behind with reading.
   */
  notify(method: string, params?: JsonObject): Promise<void>;
  /**
   * Closes the connection that this call is answered on, for a call that takes long: the client comes back for what was
   * sent meanwhile, and for the result. Nothing happens where the client could not come back: over anything but
   * Streamable HTTP, without a session, or under a revision whose streams do not begin with an event to resume from.
   */
  closeStream(): void;
}

/** What a handler can ask its client. */
export interface Questions {
  /**
   * Asks the user: a form to fill in, from the schema of an object of plain fields, or a page to visit. Resolves with the
   * content of the form. Throws {@link InputDeclined} or {@link InputCancelled} when the user gives none.
   *
   * A modern client gets the question as the result of this call, and calls again with the answer: the handler runs from the
   * start, and the same `await` has the answer. Do with `ctx.once` what must not be done twice.
   */
  elicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<S extends URL ? void : Validated<S>>;
  /** The same, and tells what the user did instead of throwing. */
  tryElicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<Elicited<S extends URL ? undefined : Validated<S>>>;
  /** Asks the client's model. A string is one message of the user. */
  sample(messages: string | readonly SamplingMessage[], options?: SampleOptions): Promise<Sampled>;
  /** What the client lets the server work on. */
  roots(options?: AskOptions): Promise<readonly Root[]>;
  /**
   * Does work that later rounds of this call must not repeat. Its result goes through JSON and travels with the client, who
   * cannot read it; an error is not kept. A client that resends an earlier round repeats the work, unless request state is
   * good for a single use.
   */
  once<T>(key: string, work: () => T | Promise<T>): Promise<T>;
  /** The answers to what `inputRequired({ … })` asked, by key. */
  readonly inputResponses: { readonly [key: string]: JsonObject } | undefined;
  /** What `inputRequired({ requestState })` kept. */
  requestState<T>(): T | undefined;
}
