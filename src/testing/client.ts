// A client for tests: that of halyard/client, on a wire that records every message, and with ways to send messages as they are.
import type { QuestionAnswers } from "../client/answering/question.ts";
import { type CallSender, joinCalls } from "../client/calls/calls.ts";
import { Logging } from "../client/calls/logging.ts";
import type { ClientRequest } from "../client/calls/middleware.ts";
import type { AnyTools, ToolTypes } from "../client/calls/tool-types.ts";
import { ServerCatalogue } from "../client/catalogue/catalogue.ts";
import { WireTransport } from "../client/channel/pipe-channel.ts";
import { McpClient } from "../client/client.ts";
import type { ServerConnection } from "../client/connection/connection.ts";
import { requestMeta } from "../client/connection/handshake.ts";
import type { Step } from "../client/connection/verdicts.ts";
import { checkCallOptions } from "../client/settings/checks.ts";
import { CallTimeout, NoCommonRevision, RpcRejection } from "../client/settings/errors.ts";
import { type ClientLimits, defaultBackoff, defaultClientLimits } from "../client/settings/limits.ts";
import type { ClientSettings, ConnectOptions as ClientOptions } from "../client/settings/options.ts";
import { filledText, func, type Known, milliseconds, needed, problemOf, type Table } from "../base/kinds.ts";
import { extensionIds } from "../protocol/meta.ts";
import type { ClientCapabilities } from "../protocol/model.ts";
import type { Revision } from "../protocol/revision.ts";
import { findRevision, revisions } from "../protocol/revisions/index.ts";
import { isObject, type JsonObject, type RequestId, type RpcNotification } from "../base/wire/message.ts";
import type { Wire } from "../base/wire/wire.ts";
import { checkMethod, checkNotification } from "../client/settings/arguments.ts";
import { type Respond, TestAnswers, Unanswered } from "./answering.ts";
import { type Received, RecordedWire } from "./recorded-wire.ts";
import { type CallOptions, knownCallOptions } from "../client/settings/call-options.ts";

/** Long enough for a busy machine; only a failing test waits this long. */
const defaultTimeoutMs = 10_000;

/** The server under test may send anything. */
export const noLimits: ClientLimits = Object.fromEntries(
  Object.keys(defaultClientLimits).map((name) => [name, Number.POSITIVE_INFINITY]),
) as unknown as ClientLimits;

const defaults = {
  info: { name: "test-client", version: "1.0.0" },
  limits: noLimits,
  backoff: defaultBackoff,
  connectTimeoutMs: defaultTimeoutMs,
  timeoutMs: defaultTimeoutMs,
  maxTimeMs: defaultTimeoutMs,
  reissue: "never",
  strict: false,
  throwOnError: false,
  cache: false,
} as const;

export interface TestClientOptions extends Pick<ClientOptions, "onLog" | "logLevel" | "observe" | "tasks"> {
  /** The date of the revision to speak. @default {the newest one that the server speaks} */
  readonly revision?: string | undefined;
  /** The capabilities that the client declares, besides those of its handlers. @default {{}} */
  readonly capabilities?: ClientCapabilities | undefined;
  /**
   * Answers the server's questions with these results unchanged, so that a request resolves with its final one. @default {no
   * question is answered}
   */
  readonly answer?: Respond | undefined;
}

/** The options of a raw request. */
export interface RawRequestOptions extends CallOptions {
  /** The id to send it under. @default {the next number} */
  readonly id?: RequestId | undefined;
}

const knownRawOptions: Known<RawRequestOptions> = {
  ...knownCallOptions,
  id: { is: (value) => typeof value === "string" || typeof value === "number", mustBe: "a text or a number" },
};

const knownMatches: Table = { matches: needed(func), timeoutMs: milliseconds };

/** The facts that a test client has about a server in the same process. */
export interface TestedServer {
  /** The exceptions in the server, by the error id that the client receives. */
  readonly failures: ReadonlyMap<unknown, unknown>;
  /** The result of `server/discover`. */
  readonly introduction: JsonObject;
  /** The handlers of the test. */
  readonly handlers: QuestionAnswers | undefined;
}

/** A client that is not open yet, whose parts a test client uses too. */
interface Parts {
  readonly revision: Revision;
  readonly wire: RecordedWire;
  readonly answers: TestAnswers;
  readonly connection: ServerConnection;
  readonly calls: CallSender;
  readonly logging: Logging;
  readonly settings: ClientSettings;
}

function partsOf(wire: Wire, options: TestClientOptions, tested: TestedServer | undefined): Parts {
  const date = options.revision ?? revisions[0]?.date;
  const revision = findRevision(date);
  if (revision === undefined) {
    const known = revisions.map((each) => each.date).join(", ");
    throw new RangeError(`Unknown protocol revision: ${date}: choose from ${known}`);
  }
  const recorded = new RecordedWire(wire);
  const answers = new TestAnswers(declaredBy(options, revision), options.answer, tested?.handlers);
  const { onLog, logLevel = onLog && "info", observe } = options;
  const settings = { ...defaults, revision: revision.date, logLevel, observe };
  const joined = joinCalls(new WireTransport(recorded, noLimits), answers, settings);
  return {
    revision,
    wire: recorded,
    answers,
    settings,
    logging: new Logging(joined.calls, onLog),
    ...joined,
  };
}

function declaredBy({ capabilities = {}, tasks }: TestClientOptions, revision: Revision): ClientCapabilities {
  if (tasks !== true || revision.tasks !== "extension") return capabilities;
  return { ...capabilities, extensions: { ...capabilities.extensions, [extensionIds.tasks]: {} } };
}

/**
 * The client of `halyard/client` for tests of a server: it speaks one protocol revision over a {@link Wire}, caches and repeats
 * nothing, and has ways to send messages as they are. {@link connect} returns one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/testing";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * const client = await connect(server);
 * const { content } = await client.callTool("hello");
 * await client.close();
 * ```
 */
export class TestClient<Tools extends ToolTypes<Tools> = AnyTools> extends McpClient<Tools> {
  readonly #revision: Revision;
  readonly #wire: RecordedWire;
  readonly #answers: TestAnswers;
  readonly #tested: TestedServer | undefined;
  readonly #connection: ServerConnection;
  readonly #calls: CallSender;
  readonly #logging: Logging;
  readonly #settings: ClientSettings;
  #opening: Promise<void> | undefined;
  #isOpen = false;

  constructor(wire: Wire, options: TestClientOptions = {}, tested?: TestedServer) {
    const parts = partsOf(wire, options, tested);
    const { connection, calls, logging, settings } = parts;
    super({ connection, calls, logging, settings, catalogue: new ServerCatalogue(calls, settings.cache) });
    this.#revision = parts.revision;
    this.#wire = parts.wire;
    this.#answers = parts.answers;
    this.#tested = tested;
    this.#connection = connection;
    this.#calls = calls;
    this.#logging = logging;
    this.#settings = settings;
    parts.wire.onSend = (text) => this.sendText(text);
    calls.use((request, next) => this.#explained(request, next));
  }

  override get revision(): string {
    return this.#revision.date;
  }

  override get era(): "modern" | "legacy" {
    return this.#revision.era;
  }

  /** Every message that has arrived, in order. */
  get received(): Received[] {
    return this.#wire.received;
  }

  /** The exceptions of the server's handlers for which this client received only an error id, the first one first. */
  get failures(): readonly unknown[] {
    return [...(this.#tested?.failures.values() ?? [])];
  }

  /** Performs the handshake if the revision has one. Returns the result of `initialize`. */
  async open(): Promise<JsonObject | undefined> {
    const before = this.received.length;
    if (this.era === "modern") await this.#assume();
    else
      await this.#connect().catch((error: unknown) => {
        const rejection = error instanceof NoCommonRevision ? (error.cause ?? error) : error;
        throw this.#withCause(rejection);
      });
    if (this.#settings.logLevel) await this.#logging.begin(this.#settings.logLevel);
    const response = this.received.slice(before).find((message) => "result" in message);
    return response?.result;
  }

  /**
   * Sends a request as it is given, once, and resolves with its result, of whatever type; only the `_meta` of the revision is added.
   * An error response rejects with an {@link RpcRejection}.
   */
  override async request(
    method: string,
    params?: JsonObject,
    options: RawRequestOptions = {},
  ): Promise<JsonObject> {
    checkMethod("request", method);
    checkCallOptions("request", options, knownRawOptions);
    if (!this.#isOpen) await this.#assume();
    const { id, ...others } = options;
    let sentAs: RequestId | undefined;
    const running = this.#calls.request(method, this.withMeta(params).params, {
      inputRequired: this.#answers.areGiven ? "answer" : "return",
      ...others,
      verbatim: { id },
      onSent: (last) => (sentAs = last),
    });
    try {
      return await this.#answers.unlessThrown(running);
    } catch (error) {
      if (error instanceof Unanswered) return this.#resultOf(sentAs);
      if (error instanceof CallTimeout) throw this.#wire.noneWithin(options.timeoutMs ?? defaultTimeoutMs);
      throw this.#withCause(error);
    }
  }

  /** Sends a notification as it is given. */
  override async notify(method: string, params?: JsonObject): Promise<void> {
    this.send({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** Sends any value as a message, unchanged. */
  send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }

  /** Sends any text, unchanged. */
  sendText(text: string): void {
    this.#wire.send(text);
  }

  /** Resolves with the first message that `matches`, among those received so far and later ones. */
  async waitFor(
    matches: (message: Received) => boolean,
    timeoutMs: number = defaultTimeoutMs,
  ): Promise<Received> {
    checkCallOptions("waitFor", { matches, timeoutMs }, knownMatches);
    return this.#answers.unlessThrown(this.#wire.find(matches, timeoutMs));
  }

  /** The notifications of that method received so far. */
  notifications(method: string): RpcNotification[] {
    const problem = problemOf(filledText, method);
    if (problem !== undefined) throw new TypeError(`notifications: method ${problem}`);
    checkNotification("notifications", method);
    return this.received.filter(
      (message): message is RpcNotification => "method" in message && message.method === method,
    );
  }

  /** Ends the connection. */
  override async close(): Promise<void> {
    await super.close();
    await this.#wire.close();
  }

  /** Adds the `_meta` that every modern request carries. */
  withMeta(params: JsonObject = {}): { params?: JsonObject } {
    if (this.era === "legacy") return Object.keys(params).length > 0 ? { params } : {};
    const declared = this.#answers.capabilities(this.#revision);
    const meta = requestMeta(this.#settings.info, declared, this.#revision);
    return { params: { ...params, _meta: { ...meta, ...(params["_meta"] as object | undefined) } } };
  }

  /** Connects without a message: the test performs the handshake itself, or the revision has none. */
  async #assume(): Promise<void> {
    const result = this.#tested?.introduction ?? {};
    await (this.#opening ?? this.#connect({ do: "speak", revision: this.#revision, result }));
    const { channel } = this.#connection;
    // Assumes the revision that the test wants, whatever the server responds.
    if (channel) this.#connection.answered(channel);
  }

  #connect(first?: Step): Promise<void> {
    const opening = this.#connection.open(undefined, first);
    this.#opening = opening.then(
      () => void (this.#isOpen = true),
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  #resultOf(id: RequestId | undefined): JsonObject {
    const response = this.received.findLast((message) => "result" in message && message.id === id);
    return (response as { readonly result: JsonObject }).result;
  }

  /** Runs a request of a method such as `callTool`. Its errors say what the test can do; those of raw requests are unchanged. */
  async #explained(request: ClientRequest, next: () => Promise<JsonObject>): Promise<JsonObject> {
    if ("verbatim" in request.options) return next();
    try {
      return await this.#answers.unlessThrown(next());
    } catch (error) {
      const unanswered = error instanceof CallTimeout ? this.#answers.takeUnanswered() : undefined;
      if (unanswered) throw new Unanswered(unanswered, error);
      throw this.#withCause(error);
    }
  }

  /** The rejection, with the exception in the server if its response has only the id of one. */
  #withCause(error: unknown): unknown {
    if (!(error instanceof RpcRejection) || !isObject(error.data)) return error;
    const cause = this.#tested?.failures.get(error.data["errorId"]);
    return cause === undefined ? error : new RpcRejection(error, cause);
  }
}
