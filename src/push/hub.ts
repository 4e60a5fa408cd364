// The hub that delivers every unsolicited message to the listeners of its topic.
import { Shares } from "../limits/shares.ts";
import { isLogged, isLogLevel } from "../protocol/model.ts";
import { logMessage } from "../protocol/notifications.ts";
import type { AskTarget } from "./asks.ts";
import { Frame } from "./frame.ts";
import { Listener, type ListenerOptions } from "./listener.ts";
import { QueueBudget } from "./queue-budget.ts";
import { keyLengthOf, topicOf, type TopicScopes } from "./topic.ts";

/** Called when a topic gets its first listener, and when it loses its last. */
export interface TopicWatch {
  first(topic: string): void;
  last(topic: string): void;
}

export interface HubLimits {
  /** Bytes that may be queued for all listeners together. */
  readonly maxTotalQueueBytes: number;
  /** Characters in the keys of all topics that listeners subscribe to. */
  readonly maxTotalSubscribedLength: number;
}

/** Holds the listeners by topic, so that a message costs only as much as the topic has listeners. */
export class Hub {
  readonly #listeners = new Set<Listener>();
  readonly #sessions = new Map<string, Listener>();
  readonly #topics = new Map<string, Set<Listener>>();
  readonly #budget: QueueBudget;
  readonly #watch: TopicWatch | undefined;
  readonly #scopesOf: TopicScopes;
  /** The characters in the keys of each caller's topics. */
  readonly #keyLength: Shares;

  constructor(
    { maxTotalQueueBytes, maxTotalSubscribedLength }: HubLimits,
    scopesOf: TopicScopes,
    watch?: TopicWatch,
  ) {
    this.#budget = new QueueBudget(maxTotalQueueBytes);
    this.#keyLength = new Shares(maxTotalSubscribedLength);
    this.#scopesOf = scopesOf;
    this.#watch = watch;
  }

  /** Whether the caller may subscribe to keys with `keyLength` more characters. */
  hasRoomFor(caller: string, keyLength: number): boolean {
    return this.#keyLength.fits(caller, keyLength);
  }

  /** Adds a listener. */
  open(options: ListenerOptions): Listener {
    const listener = new Listener(options, this.#budget, this.#scopesOf);
    this.#listeners.add(listener);
    if (listener.session !== undefined) this.#sessions.set(listener.session, listener);
    for (const topic of listener.topics) this.#index(topic, listener);
    return listener;
  }

  /** Removes a listener; nothing more is written to it. */
  close(listener: Listener): void {
    listener.close();
    if (!this.#listeners.delete(listener)) return;
    // The session may have a newer listener.
    if (listener.session !== undefined && this.#sessions.get(listener.session) === listener) {
      this.#sessions.delete(listener.session);
    }
    for (const topic of listener.topics) this.#unindex(topic, listener);
  }

  /** Subscribes the listener to one more topic. */
  subscribe(listener: Listener, topic: string): void {
    if (!this.#listeners.has(listener)) return;
    listener.topics.add(topic);
    this.#index(topic, listener);
  }

  /** Unsubscribes the listener from a topic. */
  unsubscribe(listener: Listener, topic: string): void {
    listener.topics.delete(topic);
    this.#unindex(topic, listener);
  }

  /**
   * Sends a change to every listener of its topic that has the scopes, and returns how many it reached. A queued notification of
   * the same topic is replaced.
   */
  async publish(
    notification: string,
    key?: string,
    params?: object,
    scopes?: readonly string[],
  ): Promise<number> {
    const topic = topicOf(notification, key);
    const listeners = this.#topics.get(topic);
    if (listeners === undefined) return 0;
    return this.#deliver(listeners, new Frame(notification, params, topic, scopes ?? this.#scopesOf(topic)));
  }

  /** Sends a notification to every session, once each. */
  async broadcast(method: string, params?: object): Promise<number> {
    return this.#deliver(takersOf(this.#sessions.values(), method, params), new Frame(method, params));
  }

  /**
   * Sends a notification to one session. Returns false if the session does not exist, no reader has the scopes, or its log level
   * excludes the message.
   */
  async toSession(
    session: string,
    method: string,
    params?: object,
    scopes?: readonly string[],
  ): Promise<boolean> {
    const listener = this.#sessions.get(session);
    if (listener === undefined) return false;
    const frame = new Frame(method, params, undefined, scopes);
    return this.#deliver(takersOf([listener], method, params), frame) === 1;
  }

  /** The sessions that have an open stream. */
  async sessions(): Promise<string[]> {
    return [...this.#sessions].filter(([, listener]) => listener.reachable).map(([session]) => session);
  }

  /** The stream of a session on which a reader with these scopes can be asked. */
  reach(session: string, scopes?: readonly string[]): AskTarget | undefined {
    const listener = this.#sessions.get(session);
    const stream = listener?.reachable ? listener.streamFor(scopes) : undefined;
    return listener && stream && { to: listener, stream };
  }

  /** Whether the topic has a listener. */
  async isListened(topic: string): Promise<boolean> {
    return this.#topics.has(topic);
  }

  /** The number of listeners. */
  async count(): Promise<number> {
    return this.#listeners.size;
  }

  #deliver(listeners: Iterable<Listener>, frame: Frame): number {
    let reached = 0;
    for (const listener of listeners) {
      if (frame.scopes !== undefined && listener.streamFor(frame.scopes) === undefined) continue;
      if (deliver(listener, frame)) reached++;
      else this.close(listener);
    }
    return reached;
  }

  #index(topic: string, listener: Listener): void {
    const listeners = this.#topics.get(topic);
    if (listeners?.has(listener)) return;
    this.#count(topic, listener, 1);
    if (listeners !== undefined) return void listeners.add(listener);
    this.#topics.set(topic, new Set([listener]));
    this.#watch?.first(topic);
  }

  #count(topic: string, listener: Listener, sign: 1 | -1): void {
    const length = sign * keyLengthOf(topic);
    listener.keyLength += length;
    listener.topicChanges++;
    this.#keyLength.count(listener.caller, length);
  }

  #unindex(topic: string, listener: Listener): void {
    const listeners = this.#topics.get(topic);
    if (!listeners?.delete(listener)) return;
    this.#count(topic, listener, -1);
    if (listeners.size > 0) return;
    this.#topics.delete(topic);
    this.#watch?.last(topic);
  }
}

/** Returns false if the transport throws, so that the other listeners still get the frame. */
function deliver(listener: Listener, frame: Frame): boolean {
  try {
    return listener.deliver(frame);
  } catch {
    return false;
  }
}

/** The listeners that want a message. A log message with a level goes only to those whose level includes it. */
function takersOf(
  listeners: Iterable<Listener>,
  method: string,
  params: { readonly level?: unknown } = {},
): Iterable<Listener> {
  if (method !== logMessage || !isLogLevel(params.level)) return listeners;
  return [...listeners].filter(({ log }) => isLogged(params.level, log?.logLevel));
}
