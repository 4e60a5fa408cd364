// A client for tests: it sends messages on a given revision and records every message that it receives.
import { isThenable } from "../async/promises.ts";
import { type Calls, joinCalls } from "../client/calls/calls.ts";
import { WireTransport } from "../client/channel/wire-transport.ts";
import type { Connection } from "../client/connection/connection.ts";
import { requestMeta } from "../client/connection/handshake.ts";
import type { Step } from "../client/connection/verdicts.ts";
import { CallTimeout, NoCommonRevision, RpcRejection } from "../client/settings/errors.ts";
import { type ClientLimits, defaultBackoff, defaultClientLimits } from "../client/settings/limits.ts";
import type { ClientCapabilities } from "../protocol/model.ts";
import type { Revision } from "../protocol/revision.ts";
import { findRevision } from "../protocol/revisions/index.ts";
import {
  isObject,
  isRequestId,
  type JsonObject,
  type RequestId,
  type RpcNotification,
  type RpcResponse,
} from "../wire/message.ts";
import type { Wire } from "../wire/wire.ts";
import { type Respond, TestAnswers, Unanswered } from "./answering.ts";

/** Long enough for a busy machine; only a failing test waits this long. */
const defaultTimeoutMs = 10_000;

/** The server under test may send anything. */
const noLimits = Object.fromEntries(
  Object.keys(defaultClientLimits).map((name) => [name, Number.POSITIVE_INFINITY]),
) as unknown as ClientLimits;

const settings = {
  info: { name: "test-client", version: "1.0.0" },
  limits: noLimits,
  backoff: defaultBackoff,
  connectTimeoutMs: defaultTimeoutMs,
  timeoutMs: defaultTimeoutMs,
  maxTimeMs: defaultTimeoutMs,
  reissue: "never",
  strict: false,
  throwOnError: false,
  observe: undefined,
} as const;

/** A message from the server. */
export type Received = RpcNotification | RpcResponse;

export interface TestClientOptions {
  /** The date of the revision to speak. */
  readonly revision: string;
  /** What the client declares. @default {{}} */
  readonly capabilities?: ClientCapabilities;
  /** Answers the server's questions, so that a request resolves with its final result. @default {nothing is answered} */
  readonly answer?: Respond;
}

/**
 * Speaks one protocol revision over a {@link Wire}. {@link connect} makes one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/testing";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * const client = await connect(server, { revision: "2026-07-28" });
 * const { content } = await client.request("tools/call", { name: "hello" });
 * await client.close();
 * ```
 */
export class TestClient {
  readonly revision: string;
  readonly era: "modern" | "legacy";
  /** Every message that has arrived, in order. */
  readonly received: Received[] = [];
  readonly #wire: Wire;
  readonly #revision: Revision;
  readonly #capabilities: ClientCapabilities;
  readonly #answers: boolean;
  readonly #failures: ReadonlyMap<unknown, unknown> | undefined;
  readonly #connection: Connection;
  readonly #calls: Calls;
  /** The end of the wire that the client has, once it is open. */
  #line: Wire | undefined;
  #opening: Promise<void> | undefined;
  #isOpen = false;
  readonly #waiting = new Set<() => void>();
  /** Reject what waits at the moment. */
  readonly #rejections = new Set<(error: unknown) => void>();
  /** The error that `answer` threw, until it rejects a later wait. */
  #thrown: { readonly error: unknown } | undefined;

  /** `failures`: the exceptions in the server, by the error id that the client receives, if both run in one process. */
  constructor(wire: Wire, options: TestClientOptions, failures?: ReadonlyMap<unknown, unknown>) {
    const { capabilities = {}, answer } = options;
    const revision = findRevision(options.revision);
    if (revision === undefined) throw new RangeError(`Unknown protocol revision: ${options.revision}`);
    this.revision = revision.date;
    this.era = revision.era;
    this.#revision = revision;
    this.#wire = wire;
    this.#capabilities = capabilities;
    this.#answers = answer !== undefined;
    this.#failures = failures;
    wire.onMessage = (text) => this.#receive(text);
    wire.onClose = (reason) => this.#line?.onClose(reason);
    const transport = new WireTransport({ openWire: () => this.#openLine(), reopens: false }, noLimits);
    const answers = new TestAnswers(capabilities, answer ?? (() => undefined), (error) => this.#fail(error));
    const joined = joinCalls(transport, answers, { ...settings, revision: revision.date });
    this.#connection = joined.connection;
    this.#calls = joined.calls;
  }

  /** Makes the handshake if the revision has one. Returns the result of `initialize`. */
  async open(): Promise<JsonObject | undefined> {
    if (this.era === "modern") {
      await this.#assume();
      return undefined;
    }
    const before = this.received.length;
    await this.#connect().catch((error: unknown) => {
      const rejection = error instanceof NoCommonRevision ? (error.cause ?? error) : error;
      throw this.#withCause(rejection);
    });
    const response = this.received.slice(before).find((message) => "result" in message);
    return response?.result;
  }

  /** Sends a request and resolves with its result. An error response rejects with an {@link RpcRejection}. */
  async request(method: string, params?: JsonObject, id?: RequestId): Promise<JsonObject> {
    if (!this.#isOpen) await this.#assume();
    let sentAs: RequestId | undefined;
    const running = this.#calls.request(method, this.withMeta(params).params, {
      verbatim: { id },
      inputRequired: this.#answers ? "answer" : "return",
      onSent: (last) => (sentAs = last),
    });
    try {
      return await this.#unlessAnswerThrows(running);
    } catch (error) {
      if (error instanceof Unanswered) return this.#resultOf(sentAs);
      if (error instanceof CallTimeout) throw this.#noneWithin(defaultTimeoutMs);
      throw this.#withCause(error);
    }
  }

  /** Sends a notification. */
  notify(method: string, params?: JsonObject): void {
    this.send({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** Sends any value as a message, unchanged. */
  send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }

  /** Sends any text, unchanged. */
  sendText(text: string): void {
    const sent = this.#wire.send(text);
    if (isThenable(sent)) sent.then(undefined, (error: Error) => this.#line?.onClose(error));
  }

  /** Resolves with the first message that `matches`, among those received so far and later ones. */
  waitFor(matches: (message: Received) => boolean, timeoutMs: number = defaultTimeoutMs): Promise<Received> {
    return this.#unlessAnswerThrows(this.#find(matches, timeoutMs));
  }

  /** The notifications of that method received so far. */
  notifications(method: string): RpcNotification[] {
    return this.received.filter(
      (message): message is RpcNotification => "method" in message && message.method === method,
    );
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    await this.#calls.close();
    await this.#wire.close();
  }

  /** Adds the `_meta` that every modern request carries. */
  withMeta(params: JsonObject = {}): { params?: JsonObject } {
    if (this.era === "legacy") return Object.keys(params).length > 0 ? { params } : {};
    const meta = requestMeta(settings.info, this.#capabilities, this.#revision);
    return { params: { ...params, _meta: { ...meta, ...(params["_meta"] as object | undefined) } } };
  }

  /** Connects without a message: the test makes the handshake itself, or the revision has none. */
  #assume(): Promise<void> {
    return this.#opening ?? this.#connect({ do: "speak", revision: this.#revision, result: {} });
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

  /** The client's end of the wire. The test sends on the same wire, and goes on when the client gives up. */
  #openLine(): Wire {
    this.#line = {
      send: (text) => this.sendText(text),
      onMessage: () => {},
      onClose: () => {},
      close: async () => {},
    };
    return this.#line;
  }

  #receive(text: string): void {
    const messages = [JSON.parse(text) as Received | Received[]].flat();
    this.received.push(...messages);
    for (const look of this.#waiting) look();
    // An error without an id concerns what the test sent, although a client takes it for the response to its only request.
    const own = messages.filter((message) => "method" in message || isRequestId(message.id));
    if (own.length > 0) this.#line?.onMessage(own.length === messages.length ? text : JSON.stringify(own));
  }

  #resultOf(id: RequestId | undefined): JsonObject {
    const response = this.received.findLast((message) => "result" in message && message.id === id);
    return (response as { readonly result: JsonObject }).result;
  }

  /** The rejection, with the exception in the server if its response has only the id of one. */
  #withCause(error: unknown): unknown {
    if (!(error instanceof RpcRejection) || !isObject(error.data)) return error;
    const cause = this.#failures?.get(error.data["errorId"]);
    return cause === undefined ? error : new RpcRejection(error, cause);
  }

  /** Rejects what has waited the longest, or the next wait. */
  #fail(error: unknown): void {
    const [reject] = this.#rejections;
    if (reject) reject(error);
    else this.#thrown = { error };
  }

  /** Settles like `work`, unless `answer` throws before, such as a failed assertion. */
  #unlessAnswerThrows<T>(work: Promise<T>): Promise<T> {
    if (!this.#answers) return work;
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      work.then(resolve, reject).finally(() => this.#rejections.delete(reject));
      if (this.#thrown) reject(this.#thrown.error as Error);
      this.#thrown = undefined;
    });
  }

  #find(matches: (message: Received) => boolean, timeoutMs: number): Promise<Received> {
    return new Promise((resolve, reject) => {
      let at = 0;
      const look = (): void => {
        for (; at < this.received.length; at++) {
          const message = this.received[at];
          if (message !== undefined && matches(message)) {
            stop();
            return resolve(message);
          }
        }
      };
      const timer = setTimeout(() => {
        stop();
        reject(this.#noneWithin(timeoutMs));
      }, timeoutMs);
      const stop = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #noneWithin(timeoutMs: number): Error {
    const received = JSON.stringify(this.received.slice(-5));
    return new Error(`No such message within ${timeoutMs} ms; received ${received}`);
  }
}
