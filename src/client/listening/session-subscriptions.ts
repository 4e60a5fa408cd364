// Subscriptions at a legacy server: its notifications reach the whole session, and a new session starts without subscriptions.
import type { RpcNotification } from "../../base/wire/message.ts";
import type { ClientCore } from "../calls/core.ts";
import {
  changeNotifications,
  changeOf,
  isEmpty,
  type ListenFilter,
  nothingOffered,
  offeredOf,
} from "./filter.ts";
import type { Sink, Source } from "./listening.ts";
import { ConnectionLost, RpcRejection } from "../settings/errors.ts";
import type { CallSettings } from "../settings/call-options.ts";

/** One subscription. */
interface Subscriber {
  readonly wanted: ListenFilter;
  readonly sink: Sink;
  readonly uris: ReadonlySet<string>;
  /** The URIs that it is subscribed to in the session `holds`. */
  held: readonly string[];
  holds: UriHolds | undefined;
  /** Ends the subscription, because the server now speaks another era, or because it cannot be restored. */
  leave(): void;
  fail(error: unknown): void;
}

export class SessionSubscriptions implements Source {
  readonly #core: ClientCore;
  readonly #subscribers = new Set<Subscriber>();
  /** The holds of the current session. */
  #holds: UriHolds;
  #isRouting = false;

  constructor(core: ClientCore) {
    this.#core = core;
    this.#holds = new UriHolds(core);
  }

  async subscribe(wanted: ListenFilter, sink: Sink, signal: AbortSignal): Promise<void> {
    this.#route();
    const subscriber: Subscriber = {
      wanted,
      sink,
      uris: new Set(wanted.resources),
      held: [],
      holds: undefined,
      leave: () => {},
      fail: () => {},
    };
    const stop = (): void => subscriber.fail(signal.reason);
    const ended = new Promise<void>((resolve, reject) => {
      subscriber.leave = resolve;
      subscriber.fail = reject;
      signal.addEventListener("abort", stop);
    });
    this.#subscribers.add(subscriber);
    void this.#restore(subscriber);
    try {
      await ended;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#subscribers.delete(subscriber);
      await this.#release(subscriber);
    }
  }

  /** Called by the first subscription: starts to receive notifications. */
  #route(): void {
    if (this.#isRouting) return;
    this.#isRouting = true;
    const core = this.#core;
    for (const name of changeNotifications.keys())
      core.onNotification(name, (message) => this.#change(message));
    core.onGap(() => {
      for (const { sink } of this.#subscribers) sink.gap();
    });
    core.onReopened(async () => {
      this.#holds.end();
      this.#holds = new UriHolds(core);
      const restored = [...this.#subscribers].map((subscriber) =>
        core.peer.revision.era === "legacy" ? this.#restore(subscriber) : subscriber.leave(),
      );
      await Promise.all(restored);
    });
  }

  /** Subscribes in the current session. If a new session begins meanwhile, subscribes in that one instead. */
  async #restore(subscriber: Subscriber): Promise<void> {
    const holds = this.#holds;
    try {
      const { resources, ...offered } = offeredOf(subscriber.wanted, this.#core.peer.capabilities);
      const { held, rejection } = await holds.hold(resources ?? []);
      if (holds !== this.#holds) return;
      Object.assign(subscriber, { held, holds });
      if (!this.#subscribers.has(subscriber)) return await this.#release(subscriber);
      const honoured = held.length === 0 ? offered : { ...offered, resources: held };
      if (isEmpty(honoured)) throw rejection ?? nothingOffered(subscriber.wanted, this.#core.peer.address);
      subscriber.sink.acknowledged(honoured);
    } catch (error) {
      if (holds === this.#holds) subscriber.fail(error);
    }
  }

  async #release({ held, holds }: Subscriber): Promise<void> {
    if (holds === this.#holds) await holds.release(held);
  }

  #change({ method, params }: RpcNotification): void {
    const uri = params?.["uri"];
    const isHeld = typeof uri === "string" && this.#holds.has(uri);
    for (const { wanted, uris, sink } of this.#subscribers) {
      const change = changeOf(wanted, method, params);
      const isOwn = change?.uri === undefined || (isHeld ? uris.has(change.uri) : isPartOf(change.uri, uris));
      if (change && isOwn) sink.changed(change);
    }
  }
}

/** Whether a URI is part of one of the resources: a server may announce changes of parts to subscribers of the whole. */
function isPartOf(uri: string, wholes: ReadonlySet<string>): boolean {
  for (const whole of wholes) {
    if (uri.startsWith(whole) && (whole.endsWith("/") || "/?#".includes(uri.charAt(whole.length))))
      return true;
  }
  return false;
}

/**
 * One URI: how many listenings want it, whether the server is subscribed (undefined after a request that may not have run), and
 * the last request about it, because such requests must stay in order.
 */
interface Hold {
  count: number;
  isSubscribed: boolean | undefined;
  settled: Promise<void>;
}

/** How many requests are sent at once. */
const parallel = 16;
/** How long the client waits for the response to an `unsubscribe` before it continues. */
const unsubscribeMs = 5000;

export class UriHolds {
  readonly #core: ClientCore;
  readonly #holds = new Map<string, Hold>();
  /** Aborts the running requests. */
  readonly #running = new Set<AbortController>();
  #end: ConnectionLost | undefined;

  constructor(core: ClientCore) {
    this.#core = core;
  }

  /** Ends all requests, because the session is over and the next one has holds of its own. */
  end(): void {
    this.#end = new ConnectionLost("session-gone", "The session is over", { mayHaveRun: false });
    for (const request of this.#running) request.abort(this.#end);
  }

  has(uri: string): boolean {
    return this.#holds.has(uri);
  }

  /** Subscribes to each URI that has no subscription yet. Resolves with the granted URIs, and why the server rejects another. */
  async hold(uris: readonly string[]): Promise<{ held: string[]; rejection: RpcRejection | undefined }> {
    let rejection: RpcRejection | undefined;
    const granted = new Set<string>();
    const holdOne = async (uri: string): Promise<void> => {
      const hold = this.#holds.get(uri) ?? { count: 0, isSubscribed: false, settled: Promise.resolve() };
      this.#holds.set(uri, hold);
      hold.count++;
      try {
        await this.#settle(uri, hold);
        granted.add(uri);
      } catch (error) {
        hold.count--;
        this.#forget(uri, hold);
        if (!(error instanceof RpcRejection)) throw error;
        rejection ??= error;
      }
    };
    try {
      await inParallel(uris, holdOne);
    } catch (error) {
      void this.release([...granted]);
      throw error;
    }
    return { held: [...granted], rejection };
  }

  /** Unsubscribes from each URI that no other listening holds. */
  async release(uris: readonly string[]): Promise<void> {
    await inParallel(uris, async (uri) => {
      const hold = this.#holds.get(uri);
      if (!hold) return;
      hold.count--;
      // If this fails, the server keeps sending updates, which the client ignores.
      await this.#settle(uri, hold).catch(() => {});
      this.#forget(uri, hold);
    });
  }

  /** Sends the wanted state to the server, after the last request about this URI has ended. */
  #settle(uri: string, hold: Hold): Promise<void> {
    const settle = async (): Promise<void> => {
      if (this.#end) throw this.#end;
      const isWanted = hold.count > 0;
      if (isWanted === hold.isSubscribed) return;
      const method = isWanted ? "resources/subscribe" : "resources/unsubscribe";
      const limit = isWanted ? undefined : { timeoutMs: unsubscribeMs, maxTimeMs: unsubscribeMs };
      hold.isSubscribed = undefined;
      await this.#request(method, uri, limit);
      hold.isSubscribed = isWanted;
    };
    return (hold.settled = hold.settled.then(settle, settle));
  }

  async #request(method: string, uri: string, limit: CallSettings | undefined): Promise<void> {
    const running = new AbortController();
    this.#running.add(running);
    const options = { ...limit, signal: running.signal, isRepeatable: () => true };
    await this.#core.request(method, { uri }, options).finally(() => this.#running.delete(running));
  }

  #forget(uri: string, hold: Hold): void {
    if (hold.count === 0 && this.#holds.get(uri) === hold) this.#holds.delete(uri);
  }
}

/** Runs `work` for each item, a few at a time. Rejects with the first failure after all have ended. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item).catch((error: unknown) => void errors.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, lane));
  if (errors.length > 0) throw errors[0];
}
