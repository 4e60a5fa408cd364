// One stream of events to a client: opened when it is needed, logged when it can be resumed.
import type { Principal } from "../../protocol/model.ts";
import type { ReplayLogs, StreamLog } from "./stream-log.ts";
import type { Stream } from "../../push/listener.ts";
import { Callbacks } from "../../async/callbacks.ts";
import { encodeEvent, encodePriming, encodeRetry, keepAliveComment } from "../../wire/sse.ts";
import type { EventSink } from "../edge/request.ts";

/** What makes a stream resumable. */
export interface Resumable {
  readonly logs: ReplayLogs;
  readonly log: StreamLog;
  readonly retryMs: number;
}

export interface EventStreamOptions {
  /** Starts the response; called on the first write. */
  readonly open: () => EventSink;
  /** Makes the log; called when the stream is opened. Without it the stream cannot be resumed. */
  readonly resumable?: (() => Resumable) | undefined;
  /** Begin with an event that only has an id, so that a client can resume before it has received anything. */
  readonly primes?: boolean | undefined;
  /** Called when the stream has been opened. */
  readonly onOpened?: (stream: EventStream) => void;
  /** Called when it has lost its connection, whether or not the client may come back. */
  readonly onDisconnected?: (stream: EventStream) => void;
}

export class EventStream implements Stream {
  readonly #options: EventStreamOptions;
  readonly #drains = new Callbacks();
  readonly #losses = new Callbacks();
  #resumable: Resumable | undefined;
  #sink: EventSink | undefined;
  #opened = false;
  #done = false;
  /** Whether anything was written since it was last looked at; a mark, since to look at the clock with each write would cost more. */
  #isFresh = true;
  #silentSince = 0;
  /** When its connection was lost; the client may come back. */
  lostAt: number | undefined;
  /** When its connection was made, or made again. */
  connectedAt = 0;
  /** What the token of whoever reads it was granted. */
  scopes: readonly string[] | undefined;
  /** When whoever reads it may do so no longer, unless they come back with a fresh token. */
  expiresAt: number | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  get opened(): boolean {
    return this.#opened;
  }

  get log(): StreamLog | undefined {
    return this.#resumable?.log;
  }

  /** Whether a client is connected to it now. */
  get live(): boolean {
    return this.#sink !== undefined && !this.#done;
  }

  get congested(): boolean {
    return this.#sink?.congested ?? false;
  }

  /** Whoever shows this token reads it from now on. */
  readWith(principal: Principal | undefined): void {
    this.expiresAt = principal?.expiresAt;
    this.scopes = principal?.scopes;
    if (this.log !== undefined) this.log.scopes = principal?.scopes;
  }

  /** Starts the response, if that has not happened. */
  open(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#resumable = this.#options.resumable?.();
    this.#use(this.#options.open());
    const { log, retryMs } = this.#resumable ?? {};
    if (log && retryMs !== undefined && this.#options.primes) {
      this.#sink?.write(encodePriming(log.eventId(), retryMs));
    }
    this.#options.onOpened?.(this);
  }

  write(text: string): boolean {
    if (this.#done) return true;
    this.open();
    const id = this.#resumable && this.#resumable.logs.append(this.#resumable.log, text);
    this.#isFresh = true;
    return this.#sink === undefined ? true : this.#sink.write(encodeEvent(text, id));
  }

  onDrain(callback: () => void): () => void {
    return this.#drains.add(callback);
  }

  /** Calls back when nobody can be reached on this stream any more. */
  onLost(callback: () => void): () => void {
    return this.#losses.add(callback);
  }

  /** The last message: the stream ends after it. */
  finish(text: string): void {
    this.write(text);
    this.end();
  }

  /** Nothing more comes on this stream. */
  end(): void {
    if (this.#done) return;
    this.#sink?.end();
    this.#close();
    this.#options.onDisconnected?.(this);
  }

  /** Ends it, and forgets what was sent on it: nobody comes back for it any more. */
  discard(): void {
    this.end();
    if (this.#resumable !== undefined) this.#resumable.logs.remove(this.#resumable.log);
  }

  destroy(): void {
    this.#sink?.destroy();
    this.lose();
  }

  /** Closes the connection but not the stream: the client is told to come back and resume. */
  release(): void {
    if (this.#resumable === undefined || this.#sink === undefined) return;
    this.#sink.write(encodeRetry(this.#resumable.retryMs));
    this.#sink.end();
    this.lose();
  }

  /**
   * The same for a stream that may not have been opened. Only where it begins with an event to resume from, for a client
   * that has received none would take the close for the end.
   */
  pause(): void {
    if (this.#done || !this.#options.primes) return;
    this.open();
    this.release();
  }

  /** The connection has gone. A stream that can be resumed waits for the client. */
  lose(): void {
    if (this.#sink === undefined) return;
    this.#sink = undefined;
    this.lostAt = performance.now();
    if (this.#resumable === undefined) this.#close();
    else if (!this.#resumable.logs.has(this.#resumable.log)) this.#losses.finish();
    this.#options.onDisconnected?.(this);
  }

  /** The client did not come back in time to be asked anything; what it has missed may still be kept for it. */
  giveUp(): void {
    this.#losses.call();
    this.#losses.clear();
  }

  /** The client has come back, on a connection that has what it had missed: from now on it gets what comes. */
  resume(sink: EventSink): void {
    this.#sink?.end();
    this.lostAt = undefined;
    this.#use(sink);
    this.#drains.call();
  }

  /** Keeps a connection open that has been silent for so long; to be called every second or so. */
  keepAlive(now: number, keepAliveMs: number): void {
    this.#sink?.watch();
    if (this.#isFresh) this.#silentSince = now;
    this.#isFresh = false;
    if (now - this.#silentSince < keepAliveMs) return;
    this.#sink?.write(keepAliveComment);
    this.#silentSince = now;
  }

  #use(sink: EventSink): void {
    this.#sink = sink;
    this.#isFresh = true;
    this.connectedAt = performance.now();
    sink.onDrain(() => {
      if (this.#sink === sink) this.#drains.call();
    });
    // The stream may have been resumed on another connection before this one was seen to close.
    sink.onClose(() => {
      if (this.#sink === sink) this.lose();
    });
  }

  #close(): void {
    this.#done = true;
    this.#sink = undefined;
    if (this.log !== undefined) this.log.finishedAt = performance.now();
    this.#losses.finish();
    this.#drains.clear();
  }
}
