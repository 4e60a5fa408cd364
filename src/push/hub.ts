// The one path of every unsolicited message: who listens to what, and delivery to each of them.
import { Shares } from "../limits/shares.ts";
import { isLogged, isLogLevel } from "../protocol/model.ts";
import { logMessage } from "../protocol/notifications.ts";
import type { AskTarget } from "./asks.ts";
import { Frame } from "./frame.ts";
import { Listener, type ListenerOptions } from "./listener.ts";
import { QueueBudget } from "./queue-budget.ts";
import { keyLengthOf, topicOf, type TopicScopes } from "./topic.ts";

/** Told when a topic gets its first listener, and when it has lost its last one. */
export interface TopicWatch {
  first(topic: string): void;
  last(topic: string): void;
}

export interface HubLimits {
  /** What may wait for all listeners together. */
  readonly maxTotalQueueBytes: number;
  /** Characters of all keys that listeners ask for. */
  readonly maxTotalSubscribedLength: number;
}

/** Holds the listeners, indexed by topic: a message costs only those who asked for it. */
export class Hub {
  readonly #listeners = new Set<Listener>();
  readonly #sessions = new Map<string, Listener>();
  readonly #topics = new Map<string, Set<Listener>>();
  readonly #budget: QueueBudget;
  readonly #watch: TopicWatch | undefined;
  readonly #scopesOf: TopicScopes;
  /** How many characters the keys have that listeners ask for. */
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

  /** Whether this caller may ask for keys of so many more characters. */
  hasRoomFor(caller: string, keyLength: number): boolean {
    return this.#keyLength.fits(caller, keyLength);
  }

  /** Adds a listener; it takes messages from now on. */
  open(options: ListenerOptions): Listener {
    const listener = new Listener(options, this.#budget, this.#scopesOf);
    this.#listeners.add(listener);
    if (listener.session !== undefined) this.#sessions.set(listener.session, listener);
    for (const topic of listener.topics) this.#index(topic, listener);
    return listener;
  }

  /** Drops a listener: nothing more is written to it. */
  close(listener: Listener): void {
    listener.close();
    if (!this.#listeners.delete(listener)) return;
    // A newer stream may have taken the session over.
    if (listener.session !== undefined && this.#sessions.get(listener.session) === listener) {
      this.#sessions.delete(listener.session);
    }
    for (const topic of listener.topics) this.#unindex(topic, listener);
  }

  /** The listener takes this topic too. */
  subscribe(listener: Listener, topic: string): void {
    if (!this.#listeners.has(listener)) return;
    listener.topics.add(topic);
    this.#index(topic, listener);
  }

  /** The listener no longer takes this topic. */
  unsubscribe(listener: Listener, topic: string): void {
    listener.topics.delete(topic);
    this.#unindex(topic, listener);
  }

  /** Sends a change to everyone who asked for its topic and has the scopes; waiting copies merge. Answers how many it reached. */
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
   * Sends a notification to one session. False when there is no such session, nobody there has the scopes, or it wants no such
   * log message.
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

  /** The sessions that can be reached now: those that have a stream open. */
  async sessions(): Promise<string[]> {
    return [...this.#sessions].filter(([, listener]) => listener.reachable).map(([session]) => session);
  }

  /** Where a session can be asked something, by whoever has the scopes. */
  reach(session: string, scopes?: readonly string[]): AskTarget | undefined {
    const listener = this.#sessions.get(session);
    const stream = listener?.reachable ? listener.streamFor(scopes) : undefined;
    return listener && stream && { to: listener, stream };
  }

  /** Whether anyone takes this topic. */
  async isListened(topic: string): Promise<boolean> {
    return this.#topics.has(topic);
  }

  /** How many streams take pushes now. */
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

/** A transport that fails to take it has lost its reader; others are told all the same. */
function deliver(listener: Listener, frame: Frame): boolean {
  try {
    return listener.deliver(frame);
  } catch {
    return false;
  }
}

/** Those who take a message: of log messages each says from which level on. One without a level is the author's own matter. */
function takersOf(
  listeners: Iterable<Listener>,
  method: string,
  params: { readonly level?: unknown } = {},
): Iterable<Listener> {
  if (method !== logMessage || !isLogLevel(params.level)) return listeners;
  return [...listeners].filter(({ log }) => isLogged(params.level, log?.logLevel));
}
