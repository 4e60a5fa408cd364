// One request from its start to its outcome: its timeouts, its cancellation, and its attempts so far.
import type { JsonObject, RequestId } from "../../base/wire/message.ts";
import type { RequiredUrls } from "../answering/required-urls.ts";
import { beginBudget, type CallBudget, type ChannelRequest } from "../channel/channel.ts";
import type { HeaderFields } from "../settings/auth.ts";
import { CallTimeout, type ConnectionLost } from "../settings/errors.ts";
import type { ClientState } from "../settings/events.ts";
import type { Tries } from "./attempts.ts";
import type { CallTimes, CoreRequestOptions } from "./core.ts";

/** Stops the timeouts of all calls while a handler runs. */
export interface Pauses {
  /** Whether a handler is answering a question. Timeouts for a silent server stop meanwhile. */
  readonly isBusy: boolean;
  /** When the last handler ended, by `performance.now()`. */
  readonly lastEndedAt: number;
}

/** A request that is being sent. Channels receive it with the id and text of the current attempt. */
export class SentCall implements ChannelRequest {
  id: RequestId = 0;
  text = "";
  mirrored: HeaderFields | undefined;
  params: JsonObject | undefined;
  readonly method: string;
  readonly options: CoreRequestOptions;
  /** How often the request was sent. */
  attempts = 0;
  /** The last attempt that may have run although it has no response. */
  loss: ConnectionLost | undefined;
  tries: Tries | undefined;
  /** The pages that the user must visit before the request can succeed. */
  urls: RequiredUrls | undefined;
  /** Whether the call waits to be sent again. Timeouts for a silent server stop meanwhile. */
  isPaused = false;
  onAbandoned: ((reason: unknown) => void) | undefined;
  readonly startedAt: number = performance.now();
  readonly budget: CallBudget;
  readonly #times: CallTimes;
  readonly #pauses: Pauses;
  readonly #connection: { readonly state: ClientState };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: { readonly reason: unknown } | undefined;
  #controller: AbortController | undefined;

  constructor(
    method: string,
    params: JsonObject | undefined,
    options: CoreRequestOptions,
    times: CallTimes,
    pauses: Pauses,
    connection: { readonly state: ClientState },
  ) {
    this.method = method;
    this.params = params;
    this.options = options;
    this.budget = options.budget ?? beginBudget();
    this.#times = times;
    this.#pauses = pauses;
    this.#connection = connection;
    options.signal?.addEventListener("abort", this);
    if (options.isStream !== true) this.checkTime();
  }

  /** Whether the server may report progress, under the id of the request: it shows that the server is at work. */
  get hasToken(): boolean {
    const { onProgress, verbatim } = this.options;
    return (this.method === "tools/call" || onProgress !== undefined) && verbatim === undefined;
  }

  get headers(): HeaderFields | undefined {
    return this.options.headers;
  }

  get isStream(): boolean {
    return this.options.isStream === true;
  }

  /**
   * Aborted when the caller gives up or a timeout ends the call. Created on first read: few calls need it, and it costs more than
   * the rest of one.
   */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#end !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#end.reason);
    return this.#controller.signal;
  }

  /** The reason that ended the call early, if any. */
  get end(): { readonly reason: unknown } | undefined {
    return this.#end;
  }

  /** How many milliseconds of `maxTimeMs` are left. */
  get leftMs(): number {
    return this.isStream
      ? Number.POSITIVE_INFINITY
      : this.budget.startedAt + this.#times.maxTimeMs - performance.now();
  }

  /** What the request is about: the name of a tool or prompt, or a URI. */
  get name(): string | undefined {
    const name = this.params?.["name"] ?? this.params?.["uri"];
    return typeof name === "string" ? name : undefined;
  }

  /** The name of the call in error messages. */
  get what(): string {
    return this.name === undefined ? this.method : `${this.method} ${this.name}`;
  }

  /** Notes that the server showed activity for this request, which restarts `timeoutMs`. */
  sign(): void {
    this.budget.heardAt = performance.now();
  }

  /** Ends the call early, with the reason of the caller or of a timeout. */
  abandon(reason: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    this.#controller?.abort(reason);
    this.onAbandoned?.(reason);
  }

  /** Stops the timers, because the call has its outcome. */
  finish(): void {
    clearTimeout(this.#timer);
    this.urls?.close();
    this.options.signal?.removeEventListener("abort", this);
  }

  /** Called when the caller's signal is aborted. */
  handleEvent(): void {
    this.abandon(this.options.signal?.reason);
  }

  /** Ends the call if a limit is reached. Otherwise sets a timer for the next limit. */
  checkTime(): void {
    const { timeoutMs, maxTimeMs } = this.#times;
    const now = performance.now();
    const { startedAt, heardAt } = this.budget;
    const leftMs = startedAt + maxTimeMs - now;
    const isSilent = !this.isPaused && !this.#pauses.isBusy;
    const lastSignAt = Math.max(heardAt, this.#pauses.lastEndedAt);
    const quietMs = isSilent ? lastSignAt + timeoutMs - now : timeoutMs;
    // A timer may fire up to a millisecond early.
    if (leftMs < 1) this.#tooLate("maxTimeMs");
    else if (quietMs < 1) this.#tooLate("timeoutMs");
    else this.#timer = setTimeout(onTime, Math.min(leftMs, quietMs), this);
  }

  #tooLate(limit: keyof CallTimes): void {
    const { url: signInUrl } = this.#connection.state;
    this.abandon(new CallTimeout(limit, this.#times[limit], this.what, { signInUrl }));
  }
}

function onTime(call: SentCall): void {
  call.checkTime();
}
