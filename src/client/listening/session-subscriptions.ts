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
import type { Sink, Source } from "./source.ts";
import { UriHolds } from "./uri-holds.ts";

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
