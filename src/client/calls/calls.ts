// The calls of a client over its connection. Every request, of the client itself or of its user, goes through here.
import { Ending } from "../../base/async/ending.ts";
import { untilAborted } from "../../base/async/promises.ts";
import { Callbacks } from "../../base/async/callbacks.ts";
import type { LogLevel } from "../../protocol/model.ts";
import { encodeNotification, type JsonObject, type RpcNotification } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import type { Transport } from "../channel/channel.ts";
import { type ConnectionSettings, ServerConnection } from "../connection/connection.ts";
import type { ServerFacts } from "../settings/server-facts.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { CallTimeout, ConnectionLost } from "../settings/errors.ts";
import { type ClientEvent, tellThrown } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { CallTimes, ClientCore, CoreRequestOptions } from "./core.ts";
import { type ClientMiddleware, sendThrough } from "./middleware.ts";
import { checkMetaKeys } from "./request-text.ts";
import { Sender, type SenderSettings } from "./sender.ts";
import type { CallSettings } from "../settings/call-options.ts";

const noOptions: CoreRequestOptions = {};

/** The notifications of clients that only legacy servers know. */
const legacyNotifications: ReadonlySet<string> = new Set([
  "notifications/initialized",
  "notifications/progress",
  "notifications/roots/list_changed",
]);

export interface CallsSettings extends SenderSettings {
  readonly credentials: ClientCore["credentials"];
  readonly secrets: Secrets;
}

/** The calls of one client. */
export class CallSender implements ClientCore {
  readonly #connection: ServerConnection;
  readonly #settings: CallsSettings;
  readonly #answers: QuestionAnswers;
  readonly #sender: Sender;
  readonly #middleware: ClientMiddleware[] = [];
  readonly #closing = new Ending(closedError);
  readonly #credentials = new Callbacks();
  readonly #missed = new Callbacks();

  constructor(connection: ServerConnection, answers: QuestionAnswers, settings: CallsSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#answers = answers;
    this.#sender = new Sender(connection, answers, settings, this.#closing);
  }

  get peer(): ServerFacts {
    return this.#connection.peer;
  }

  get limits(): ClientLimits {
    return this.#settings.limits;
  }

  get secrets(): Secrets {
    return this.#settings.secrets;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get isListening(): boolean {
    return this.#connection.channel?.isListening ?? false;
  }

  /** Answers the server's questions. */
  get answers(): QuestionAnswers {
    return this.#answers;
  }

  /** The level that modern requests carry. */
  set logLevel(level: LogLevel | undefined) {
    this.#sender.logLevel = level;
  }

  use(middleware: ClientMiddleware): void {
    this.#middleware.push(middleware);
  }

  request(
    method: string,
    params: JsonObject | undefined,
    options: CoreRequestOptions = noOptions,
  ): Promise<JsonObject> {
    const sender = this.#sender;
    if (this.#middleware.length === 0) return sender.send(method, params, options);
    return sendThrough(this.#middleware, { method, params, options }, (request) =>
      sender.send(request.method, request.params, request.options),
    );
  }

  timesOf(options: CallSettings | undefined): CallTimes {
    return this.#sender.timesOf(options);
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    this.#closing.throwIfOver();
    checkMetaKeys(params?.["_meta"]);
    await this.#inTime(method, (signal) => this.#notify(method, params, signal));
  }

  async #notify(method: string, params: JsonObject | undefined, signal: AbortSignal): Promise<void> {
    const channel = this.#connection.channel ?? (await this.#connection.ready(signal));
    const { revision } = this.peer;
    if (revision.era === "modern" && legacyNotifications.has(method))
      throw new RangeError(`${method} does not exist in ${revision.date}: send it to older servers only`);
    await channel.send(encodeNotification(method, params));
  }

  /** A message waits for the next connection, and over HTTP and on a full pipe until the server has taken it. */
  async #inTime(method: string, send: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { timeoutMs } = this.#settings;
    const late = new AbortController();
    const tooLate = (): void =>
      late.abort(new CallTimeout("timeoutMs", timeoutMs, method, { signInUrl: this.#connection.state.url }));
    const timer = setTimeout(tooLate, timeoutMs);
    await untilAborted(send(late.signal), late.signal).finally(() => clearTimeout(timer));
  }

  onNotification(method: string, callback: (message: RpcNotification) => void): () => void {
    return this.#connection.onNotification(method, callback);
  }

  onReopened(callback: () => void | Promise<void>): () => void {
    return this.#connection.onReopened(callback);
  }

  onGap(callback: () => void): () => void {
    const forget = [this.#connection.onGap(callback), this.#missed.add(callback)];
    return () => forget.forEach((end) => end());
  }

  missed(): void {
    this.#missed.call();
  }

  onCredentials(callback: () => void): () => void {
    return this.#credentials.add(callback);
  }

  credentials(): string | undefined | Promise<string> {
    return this.#settings.credentials();
  }

  /** Called when the credentials have changed. */
  credentialsChanged(): void {
    this.#credentials.call();
  }

  observe(event: ClientEvent): void {
    this.#settings.observe?.(event);
  }

  thrown(own: object, reason: string): void {
    tellThrown(this.#settings.observe, own, reason);
  }

  /** Ends the calls and the connection. */
  async close(): Promise<void> {
    this.#closing.end();
    this.#sender.close();
    await this.#connection.close();
  }
}

/** The settings that the connection and the calls share. */
export type JoinSettings = Omit<ConnectionSettings & SenderSettings, "answers" | "takeId">;

/** Creates a connection that is not open yet, and the calls over it. */
export function joinCalls(
  transport: Transport,
  answers: QuestionAnswers,
  settings: JoinSettings,
): { readonly connection: ServerConnection; readonly calls: CallSender } {
  let lastId = 0;
  const takeId = (): number => ++lastId;
  const connection = new ServerConnection(transport, { ...settings, answers, takeId });
  const credentials = (): string | undefined | Promise<string> => transport.credentials?.();
  const { secrets } = transport;
  return {
    connection,
    calls: new CallSender(connection, answers, { ...settings, takeId, credentials, secrets }),
  };
}

export function closedError(): ConnectionLost {
  return new ConnectionLost("closed", "The client is closed: connect again", { mayHaveRun: false });
}
