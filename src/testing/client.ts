// A client for tests: it sends messages on a given revision and records every message that it receives.
import { metaKeys } from "../protocol/meta.ts";
import type { ClientCapabilities } from "../protocol/model.ts";
import { findRevision } from "../protocol/revisions/index.ts";
import type { JsonObject, RequestId, RpcError, RpcNotification, RpcResponse } from "../wire/message.ts";
import { type Respond, questionsIn, retryOf } from "./answering.ts";

/** The other end of a pipe. */
export interface Wire {
  send(text: string): void;
  /** Called with each message that arrives. */
  onMessage: (text: string) => void;
  close(): Promise<void>;
  /** The exceptions in the server, by the error id that the client received; only if both run in one process. */
  readonly failures?: ReadonlyMap<unknown, unknown>;
}

/** Long enough for a busy machine; only a failing test waits this long. */
const defaultTimeoutMs = 10_000;

/** A message from the server. */
export type Received = RpcNotification | RpcResponse;

/**
 * The error response to a request. If the response has only an error id, `cause` is the exception in the server.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, RpcRejection } from "halyard/testing";
 *
 * const client = await connect(new McpServer({ name: "demo", version: "1.0.0" }), { revision: "2026-07-28" });
 * const error = await client.request("no/such/method").catch((reason: unknown) => reason);
 * if (error instanceof RpcRejection) console.log(error.code);
 * await client.close();
 * ```
 */
export class RpcRejection extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(error: RpcError, cause?: unknown) {
    super(error.message, cause === undefined ? undefined : { cause });
    this.name = "RpcRejection";
    this.code = error.code;
    this.data = error.data;
  }
}

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
  readonly #capabilities: ClientCapabilities;
  readonly #answer: Respond | undefined;
  readonly #waiting = new Set<() => void>();
  /** The error that `answer` threw, until it rejects a pending or later wait. */
  #thrown: { readonly error: unknown } | undefined;
  #nextId = 1;

  constructor(wire: Wire, options: TestClientOptions) {
    const revision = findRevision(options.revision);
    if (revision === undefined) throw new RangeError(`Unknown protocol revision: ${options.revision}`);
    this.revision = revision.date;
    this.era = revision.era;
    this.#wire = wire;
    this.#capabilities = options.capabilities ?? {};
    this.#answer = options.answer;
    wire.onMessage = (text) => {
      const messages = [JSON.parse(text) as Received | Received[]].flat();
      this.received.push(...messages);
      for (const look of this.#waiting) look();
      for (const message of messages) this.#reply(message);
    };
  }

  /** Makes the handshake if the revision has one. Returns the result of `initialize`. */
  async open(): Promise<JsonObject | undefined> {
    if (this.era === "modern") return undefined;
    const result = await this.request("initialize", {
      protocolVersion: this.revision,
      capabilities: this.#capabilities,
      clientInfo: { name: "test-client", version: "1.0.0" },
    });
    this.notify("notifications/initialized");
    return result;
  }

  /** Sends a request and resolves with its result. An error response rejects with an {@link RpcRejection}. */
  async request(method: string, params?: JsonObject, id: RequestId = this.#nextId++): Promise<JsonObject> {
    const before = this.received.length;
    this.send({ jsonrpc: "2.0", id, method, ...this.withMeta(params) });
    const response = await this.#find(
      (message): message is RpcResponse => "id" in message && message.id === id,
      before,
    );
    if ("error" in response) throw new RpcRejection(response.error, this.#causeOf(response.error));
    const { result } = response;
    const retry = result["resultType"] === "input_required" && this.#retry(result);
    return retry ? this.request(method, { ...params, ...retry }) : result;
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
    this.#wire.send(text);
  }

  /** Resolves with the first message that `matches`, among those received so far and later ones. */
  waitFor(matches: (message: Received) => boolean, timeoutMs: number = defaultTimeoutMs): Promise<Received> {
    return this.#find((message): message is Received => matches(message), 0, timeoutMs);
  }

  /** The notifications of that method received so far. */
  notifications(method: string): RpcNotification[] {
    return this.received.filter(
      (message): message is RpcNotification => "method" in message && message.method === method,
    );
  }

  /** Ends the connection. */
  close(): Promise<void> {
    return this.#wire.close();
  }

  /** Adds the `_meta` that every modern request carries. */
  withMeta(params: JsonObject = {}): { params?: JsonObject } {
    if (this.era === "legacy") return Object.keys(params).length > 0 ? { params } : {};
    const meta = {
      [metaKeys.protocolVersion]: this.revision,
      [metaKeys.clientCapabilities]: this.#capabilities,
      [metaKeys.clientInfo]: { name: "test-client", version: "1.0.0" },
    };
    return { params: { ...params, _meta: { ...meta, ...(params["_meta"] as object | undefined) } } };
  }

  /** The exception behind an error id. */
  #causeOf({ data }: RpcError): unknown {
    return this.#wire.failures?.get((data as { errorId?: unknown } | null | undefined)?.errorId);
  }

  /** The parameters that answer the questions in a result, or undefined if `answer` answers none. */
  #retry(result: JsonObject): JsonObject | undefined {
    const retry = this.#answer && retryOf(result, this.#answer);
    const isEmpty = Object.keys(retry?.["inputResponses"] ?? {}).length === 0;
    return isEmpty && questionsIn(result).length > 0 ? undefined : retry;
  }

  /** Answers a request of the server. An error that `answer` throws, such as a failed assertion, rejects the current wait. */
  #reply(message: Received): void {
    if (!("method" in message) || !("id" in message)) return;
    const { method, params = {} } = message;
    try {
      const result = this.#answer?.({ key: "", method, params });
      if (result !== undefined) this.send({ jsonrpc: "2.0", id: message.id, result });
    } catch (error) {
      this.#thrown = { error };
      for (const look of this.#waiting) look();
    }
  }

  #find<T extends Received>(
    matches: (message: Received) => message is T,
    from: number,
    timeoutMs = defaultTimeoutMs,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let at = from;
      const look = (): void => {
        if (this.#thrown !== undefined) {
          fail(this.#thrown.error);
          this.#thrown = undefined;
          return;
        }
        for (; at < this.received.length; at++) {
          const message = this.received[at];
          if (message !== undefined && matches(message)) {
            stop();
            return resolve(message);
          }
        }
      };
      const fail = (error: unknown): void => {
        stop();
        reject(error as Error);
      };
      const timer = setTimeout(() => {
        const received = JSON.stringify(this.received.slice(-5));
        fail(new Error(`No such message within ${timeoutMs} ms; received ${received}`));
      }, timeoutMs);
      const stop = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }
}
