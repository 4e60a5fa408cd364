// One listening: it subscribes, subscribes again after a loss, and passes on the changes.
import { AsyncClosing, type AsyncDisposal } from "../../base/async/ending.ts";
import { isThenable } from "../../base/async/promises.ts";
import type { ClientCore } from "../calls/core.ts";
import { Attempts, backoffPause } from "../channel/backoff.ts";
import { ConnectionLost, HttpFailure } from "../settings/errors.ts";
import type { Backoff } from "../settings/limits.ts";
import { type Change, gapsOf, type ListenFilter } from "./filter.ts";

/** Receives changes as they happen. */
export type OnChange = (change: Change) => void | Promise<void>;

/** The options of `listen` besides the filter. */
export interface ListenOptions {
  /** Ends the listening. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * An open listening. Iterate over it for the changes, unless you passed `onChange`. Leaving the loop closes it.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("first", {}, () => "first");
 * const client = await connect(server);
 * const listening = await client.listen({ tools: true });
 * server.tool("second", {}, () => "second");
 * for await (const { kind, cause } of listening) {
 *   console.log(kind, cause, (await client.listTools()).length);
 *   break;
 * }
 * await listening.close();
 * await client.close();
 * ```
 */
export interface Listening extends AsyncIterable<Change>, AsyncDisposal {
  /** The part of the filter that the server announces. It can change when the client subscribes again. */
  readonly honoured: ListenFilter;
  /** Resolves when there are no more changes: with undefined if you closed it, with an error if the client gave up. */
  readonly ended: Promise<unknown>;
  /** Unsubscribes. */
  close(): Promise<void>;
}

/** The parts of the client that a listening needs. */
export interface ListeningParts {
  readonly core: ClientCore;
  readonly backoff: Backoff;
  /** The source for the server's current era. */
  readonly source: () => Source;
}

/** How often the first subscription is tried if the server cannot be reached. */
const firstAttempts = 5;
/** The name of the stream for `observe`. */
const stream = "listen";

export class LiveListening extends AsyncClosing implements Listening, Sink {
  readonly #parts: ListeningParts;
  readonly #wanted: ListenFilter;
  readonly #onChange: OnChange | undefined;
  readonly #queue: ChangeQueue;
  readonly #attempts: Attempts;
  readonly #stop = new AbortController();
  /** Aborted when the listening or the client is closed. */
  readonly #signal: AbortSignal;
  #honoured: ListenFilter | undefined;
  /** Whether a change arrived before the first acknowledgement. */
  #isEarly = false;
  /** When the current subscription was acknowledged. */
  #since: number | undefined;
  #opened: () => void = () => {};
  /** Resolves when the server has acknowledged the first subscription. Rejects if the client gives up before. */
  readonly opened: Promise<void>;
  readonly ended: Promise<unknown>;

  constructor(parts: ListeningParts, wanted: ListenFilter, onChange: OnChange | undefined) {
    super();
    this.#parts = parts;
    this.#wanted = wanted;
    this.#onChange = onChange;
    this.#queue = new ChangeQueue(parts.core.limits.maxChanges);
    this.#attempts = new Attempts(parts.backoff, true);
    // Node warns of more than ten listeners at one signal, so this adds none to the signal of the client.
    this.#signal = AbortSignal.any([this.#stop.signal, parts.core.closed]);
    this.ended = this.#run().then((error) => {
      this.#queue.end(error);
      return error;
    });
    this.opened = new Promise((resolve, reject) => {
      this.#opened = resolve;
      const closing = new ConnectionLost("closed", "listen: the client was closed", { mayHaveRun: false });
      void this.ended.then((error) => reject((error ?? closing) as Error));
    });
  }

  get honoured(): ListenFilter {
    return this.#honoured ?? {};
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }

  [Symbol.asyncIterator](): AsyncIterator<Change> {
    if (this.#onChange)
      throw new TypeError("listen: onChange receives the changes; leave it out to iterate over them");
    return {
      next: () => this.#queue.next(),
      return: async () => {
        await this.close();
        return { done: true, value: undefined };
      },
    };
  }

  acknowledged(honoured: ListenFilter): void {
    const { core } = this.#parts;
    const isGap = this.#honoured !== undefined || this.#isEarly;
    this.#honoured = honoured;
    this.#since = performance.now();
    core.observe({ type: "stream", stream, state: "opened" });
    if (isGap) {
      // Clears the cache before the listener reads again.
      if (core.peer.revision.era === "modern") core.missed();
      this.gap();
    }
    this.#opened();
  }

  changed(change: Change): void {
    this.#attempts.reset();
    if (this.#honoured) this.#deliver(change);
    else this.#isEarly = true;
  }

  gap(): void {
    for (const change of gapsOf(this.honoured)) this.#deliver(change);
  }

  /** Subscribes until the listening is closed or the client gives up. Resolves with undefined, or with the reason. */
  async #run(): Promise<unknown> {
    const { core, source, backoff } = this.#parts;
    const signal = this.#signal;
    // A source waits for the signal to abort, so it must not start after the signal has aborted during the last wait.
    while (!signal.aborted) {
      this.#since = undefined;
      const subscription = source().subscribe(this.#wanted, this, signal);
      const error = await subscription.catch((reason: unknown) => reason);
      if (signal.aborted) break;
      // Proxies end quiet streams, so a stream that lasted is not a failed attempt, even if it carried nothing.
      if (this.#since !== undefined && performance.now() - this.#since >= backoff.maxMs)
        this.#attempts.reset();
      const floorMs = retryAfterOf(error);
      const waitMs = this.#isHopeless(error) ? undefined : this.#attempts.next(floorMs);
      const state = waitMs === undefined ? "given-up" : "lost";
      const reason = error instanceof Error ? error.message : "The server ended the subscription";
      core.observe({ type: "stream", stream, state, reason });
      if (waitMs === undefined) return error ?? new ConnectionLost("cut", reason, { mayHaveRun: true });
      // The `observe` function may have closed the listening.
      if (!signal.aborted) await this.#wait(waitMs, floorMs);
    }
    return undefined;
  }

  /** Whether subscribing again cannot help. After the first acknowledgement, every failure may be temporary. */
  #isHopeless(error: unknown): boolean {
    if (error instanceof ConnectionLost && error.reason === "closed") return true;
    if (this.#honoured) return false;
    const mayPass = error === undefined || error instanceof ConnectionLost || isRefusal(error);
    return !mayPass || this.#attempts.made >= firstAttempts;
  }

  /** Waits for this time, or until the client reconnects or is closed. */
  async #wait(waitMs: number, floorMs: number): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    const forget = this.#parts.core.onReopened(wake);
    this.#signal.addEventListener("abort", wake);
    await backoffPause(waitMs, woken.signal, floorMs).catch(() => {});
    this.#signal.removeEventListener("abort", wake);
    forget();
  }

  #deliver(change: Change): void {
    if (this.#signal.aborted) return;
    const onChange = this.#onChange;
    if (!onChange) return this.#queue.push(change);
    const failed = (error: unknown): void =>
      this.#parts.core.thrown(onChange, `onChange failed: ${String(error)}`);
    try {
      const returned = onChange(change);
      if (isThenable(returned)) returned.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** Whether the server refuses the request temporarily. */
function isRefusal(error: unknown): boolean {
  return error instanceof HttpFailure && (error.status === 429 || error.status === 503);
}

function retryAfterOf(error: unknown): number {
  return (error instanceof HttpFailure && error.retryAfterMs) || 0;
}

/** Receives what happens to a subscription. */
export interface Sink {
  /** The server honours this filter. Called again after the subscription was restored. */
  acknowledged(honoured: ListenFilter): void;
  changed(change: Change): void;
  /** Changes may have been missed. */
  gap(): void;
}

/** Subscribes at the server. */
export interface Source {
  /**
   * Resolves when the server has ended the subscription in an orderly way. Rejects when it failed or was lost, and with the
   * reason of `signal`.
   */
  subscribe(wanted: ListenFilter, sink: Sink, signal: AbortSignal): Promise<void>;
}

export class ChangeQueue {
  readonly #max: number;
  readonly #waiting = new Map<string, Change>();
  #readers: ((result: Promise<IteratorResult<Change>>) => void)[] = [];
  #end: Promise<IteratorResult<Change>> | undefined;

  /** Holds at most `max` changes of resources, and one of each list. */
  constructor(max: number) {
    this.#max = max;
  }

  push(change: Change): void {
    if (this.#end) return;
    const reader = this.#readers.shift();
    if (reader) return reader(Promise.resolve({ done: false, value: change }));
    const isKnown = change.kind !== "resource" || !this.#mergeResource(change);
    if (isKnown) this.#add(change);
  }

  next(): Promise<IteratorResult<Change>> {
    for (const [key, value] of this.#waiting) {
      this.#waiting.delete(key);
      return Promise.resolve({ done: false, value });
    }
    return this.#end ?? new Promise((resolve) => void this.#readers.push(resolve));
  }

  /** Ends the queue after the waiting changes. With an error, the reader receives it last. */
  end(error: unknown): void {
    if (this.#end) return;
    const done = { done: true as const, value: undefined };
    this.#end = error === undefined ? Promise.resolve(done) : Promise.reject(error as Error);
    // Prevents an unhandled rejection if the changes are never read.
    this.#end.catch(() => {});
    for (const reader of this.#readers.splice(0)) reader(this.#end);
  }

  /** Whether the change is covered by a gap of all resources. Begins such a gap if too many different resources wait. */
  #mergeResource({ uri }: Change): boolean {
    if (this.#waiting.has("resource")) return true;
    if (this.#waiting.size < this.#max || this.#waiting.has(`resource ${uri}`)) return false;
    for (const [key, { kind }] of this.#waiting) if (kind === "resource") this.#waiting.delete(key);
    this.#add({ kind: "resource", cause: "gap" });
    return true;
  }

  /** Adds a change, unless it already waits. A gap replaces an ordinary change. */
  #add(change: Change): void {
    const key = change.uri === undefined ? change.kind : `${change.kind} ${change.uri}`;
    if (change.cause === "gap" || !this.#waiting.has(key)) this.#waiting.set(key, change);
  }
}
