// The hub that delivers every unsolicited message to the listeners of its topic.
import { Shares } from "../../base/limits/shares.ts";
import { isLogged, isLogLevel, type LogLevel } from "../../protocol/model.ts";
import { logMessage } from "../../protocol/notifications.ts";
import type { AskTarget } from "./asks.ts";
import type { CatalogueChange } from "./change.ts";
import type { ChangeLog } from "./changes.ts";
import { Frame } from "./frame.ts";
import { Listener, type ListenerOptions, type Stream } from "./listener.ts";
import { QueueBudget } from "./queue-budget.ts";
import type { RemoteSessions, SessionPush } from "./remote-sessions.ts";
import { keyLengthOf, subscribedBytesOf, topicOf, type TopicScopes } from "./topic.ts";

/** Called when a topic gets its first listener, and when it loses its last. */
export interface TopicWatch {
  first(topic: string): void;
  last(topic: string): void;
}

export interface HubLimits {
  /** Bytes that may be queued for all listeners together. */
  readonly maxTotalQueueBytes: number;
  /** Bytes of all subscriptions to keys. */
  readonly maxTotalSubscribedLength: number;
}

/** Holds the listeners by topic, so that a message costs only as much as the topic has listeners. */
export class Hub {
  readonly listeners: Set<Listener> = new Set();
  readonly #sessions = new Map<string, Listener>();
  readonly topics: Map<string, Set<Listener>> = new Map();
  readonly budget: QueueBudget;
  /** How many listeners are sessions, and how many subscriptions there are: listen requests, and resources of sessions. */
  readonly counts: { sessions: number; subscriptions: number } = { sessions: 0, subscriptions: 0 };
  readonly #watch: TopicWatch | undefined;
  readonly #scopesOf: TopicScopes;
  /** The bytes of each caller's subscriptions. */
  readonly #subscribed: Shares;
  #changes: ChangeLog | undefined;
  #remote: RemoteSessions | undefined;

  constructor(
    { maxTotalQueueBytes, maxTotalSubscribedLength }: HubLimits,
    scopesOf: TopicScopes,
    watch?: TopicWatch,
    onMerge: (topic: string) => void = () => {},
  ) {
    this.budget = new QueueBudget(maxTotalQueueBytes, onMerge);
    this.#subscribed = new Shares(maxTotalSubscribedLength);
    this.#scopesOf = scopesOf;
    this.#watch = watch;
  }

  /** Shares changes with other nodes, and reaches their sessions, once this node has joined them. */
  connect(changes: ChangeLog, remote: RemoteSessions): void {
    this.#changes = changes;
    this.#remote = remote;
  }

  /** Whether the caller may have more subscriptions, of so many {@link subscribedBytesOf bytes}. */
  hasRoomFor(caller: string, bytes: number): boolean {
    return this.#subscribed.fits(caller, bytes);
  }

  /** Adds a listener. */
  open(options: ListenerOptions): Listener {
    const listener = new Listener(options, this.budget, this.#scopesOf);
    this.listeners.add(listener);
    if (listener.session === undefined) this.counts.subscriptions++;
    else {
      this.counts.sessions++;
      this.#sessions.set(listener.session, listener);
    }
    for (const topic of listener.topics) this.#index(topic, listener);
    return listener;
  }

  /** Removes a listener; nothing more is written to it. */
  close(listener: Listener): void {
    listener.close();
    if (!this.listeners.delete(listener)) return;
    const isSession = listener.session !== undefined;
    if (isSession) this.counts.sessions--;
    this.counts.subscriptions -= isSession ? listener.addedTopics : 1;
    // The session may have a newer listener.
    if (listener.session !== undefined && this.#sessions.get(listener.session) === listener) {
      this.#sessions.delete(listener.session);
    }
    for (const topic of listener.topics) this.#unindex(topic, listener);
  }

  /** Subscribes the listener to one more topic. */
  subscribe(listener: Listener, topic: string): void {
    if (!this.listeners.has(listener)) return;
    if (!listener.topics.has(topic)) this.counts.subscriptions++;
    listener.topics.add(topic);
    this.#index(topic, listener);
  }

  /** Unsubscribes the listener from a topic. */
  unsubscribe(listener: Listener, topic: string): void {
    if (listener.topics.delete(topic) && this.listeners.has(listener)) this.counts.subscriptions--;
    this.#unindex(topic, listener);
  }

  /**
   * Sends a change to every listener of its topic that has the scopes, on all nodes, and resolves with how many it reached on this
   * one. A queued notification of the same topic is replaced.
   */
  async publish(
    notification: string,
    key?: string,
    params?: object,
    scopes?: readonly string[],
  ): Promise<number> {
    return this.#tell({ k: "publish", method: notification, key, params, scopes });
  }

  /** Notifies all nodes that a list has changed. `print` is the fingerprint of this node's list. */
  async announce(notification: string, print: string | undefined): Promise<number> {
    return this.#tell({ k: "publish", method: notification, print });
  }

  /** Sends a notification to every session on all nodes, once each, and resolves with the number of those on this node. */
  async broadcast(method: string, params?: object): Promise<number> {
    return this.#tell({ k: "broadcast", method, params });
  }

  #tell(change: CatalogueChange): number | Promise<number> {
    if (!this.#changes?.isShared) return this.deliver(change);
    if (change.k !== "publish" || change.scopes !== undefined) {
      return this.#changes.append(change).catch((error: unknown) => this.#deliverLarge(change, error));
    }
    // The node that publishes knows the scopes: another may not have the definition.
    const scopes = this.#scopesOf(topicOf(change.method, change.key));
    return this.#changes.append({ ...change, scopes });
  }

  /** Delivers a message that is too large for a log to the clients connected here. Throws if there are other nodes. */
  #deliverLarge(change: CatalogueChange, error: unknown): number {
    if (!(error instanceof RangeError) || this.#remote?.mayReach !== false) throw error;
    for (const listener of this.#sessions.values()) if (listener.isAway) listener.markGap();
    return this.deliver(change);
  }

  /** Delivers a change to the listeners of this node, and returns how many it reached. */
  deliver(change: CatalogueChange, position?: string): number {
    if (change.k === "broadcast") {
      const { method, params } = change;
      const frame = new Frame(method, params, undefined, undefined, position);
      // Several endpoints may have a session, and one of them its stream.
      const sessions = [...this.listeners].filter(({ session }) => session !== undefined);
      return this.#deliver(takersOf(sessions, method, params), frame);
    }
    if (change.k !== "publish") return 0;
    const topic = topicOf(change.method, change.key);
    const listeners = this.topics.get(topic);
    return listeners ? this.#deliver(listeners, this.#frameOf(change, topic, position)) : 0;
  }

  /** The frame of a change, if the listener subscribes to it. Its scopes are not checked. */
  frameFor(listener: Listener, change: CatalogueChange, position: string): Frame | undefined {
    if (change.k === "broadcast") {
      const { method, params } = change;
      const isTaken = listener.session !== undefined && takes(listener.log, method, params);
      return isTaken ? new Frame(method, params, undefined, undefined, position) : undefined;
    }
    if (change.k !== "publish") return undefined;
    const topic = topicOf(change.method, change.key);
    if (!listener.topics.has(topic)) return undefined;
    return this.#frameOf(change, topic, position);
  }

  #frameOf(
    { method, params, scopes }: CatalogueChange & { readonly k: "publish" },
    topic: string,
    position?: string,
  ): Frame {
    return new Frame(method, params, topic, scopes ?? this.#scopesOf(topic), position);
  }

  /** Notifies every listener of this node that each of its topics may have changed. */
  tellEverything(): void {
    const listeners = [...this.listeners].filter(({ isAway }) => !isAway);
    for (const listener of listeners) listener.markGap();
    // Deferred, so that changes that follow at once are merged with it.
    queueMicrotask(() => {
      for (const listener of listeners) if (!deliver(listener)) this.close(listener);
    });
  }

  /**
   * Sends a notification to one session, on any node. Resolves with false if the session does not exist, no reader has the scopes, or
   * its log level excludes the message.
   */
  async toSession(
    session: string,
    method: string,
    params?: object,
    scopes?: readonly string[],
  ): Promise<boolean> {
    const listener = this.#sessions.get(session);
    const push = { method, params, scopes };
    const remote = this.#remote?.isJoined ? this.#remote : undefined;
    if (!remote || (listener && !listener.stream.recovers)) return this.pushHere(session, push);
    const text = new Frame(method, params).plain();
    // A message that is too large for other nodes reaches an open stream of this node, and is not kept.
    if (listener?.reachable && !remote.canKeep(text)) return this.pushHere(session, push);
    if (listener)
      return takes(listener.log, method, params) && remote.append(session, text, scopes, listener.caller);
    if (method !== logMessage) return remote.push(session, push, text);
    return remote.push(session, push, text, (logLevel) => takes({ logLevel }, method, params));
  }

  /** Sends a notification to a session that this node has. */
  pushHere(session: string, { method, params, scopes }: SessionPush): boolean {
    const listener = this.#sessions.get(session);
    if (listener === undefined) return false;
    const frame = new Frame(method, params, undefined, scopes);
    return this.#deliver(takersOf([listener], method, params), frame) === 1;
  }

  /** The sessions that have an open stream. */
  async sessions(): Promise<string[]> {
    return [...this.#sessions].filter(([, listener]) => listener.reachable).map(([session]) => session);
  }

  /** The stream of a session on this node on which a reader with these scopes can be asked. */
  reach(session: string, scopes?: readonly string[]): AskTarget | undefined {
    const listener = this.#sessions.get(session);
    const stream = listener?.reachable ? listener.streamFor(scopes) : undefined;
    if (!listener || !stream) return undefined;
    return { to: listener, stream: this.#logOf(listener, scopes) ?? stream };
  }

  /**
   * How to ask a session, on any node. In a cluster, a question to an HTTP session waits for its next stream; without one, the
   * session needs an open stream.
   */
  async find(session: string, scopes?: readonly string[]): Promise<AskTarget | undefined> {
    const reached = this.reach(session, scopes);
    if (reached || !this.#remote?.mayReach) return reached;
    const listener = this.#sessions.get(session);
    const stream = listener && this.#logOf(listener, scopes);
    return stream ? { to: listener, stream } : this.#remote.find(session, scopes);
  }

  /** The log of a session, if its stream reads messages from there. */
  #logOf({ session, stream, caller }: Listener, scopes: readonly string[] | undefined): Stream | undefined {
    if (!this.#remote?.isJoined || !stream.recovers || session === undefined) return undefined;
    const log = this.#remote.streamTo(session, scopes, caller);
    return { ...log, onLost: (callback) => stream.onLost(callback) };
  }

  /** Whether the topic has a listener. */
  async isListened(topic: string): Promise<boolean> {
    return this.topics.has(topic);
  }

  /** The number of listeners that get messages here. */
  async count(): Promise<number> {
    return [...this.listeners].filter(({ isAway }) => !isAway).length;
  }

  #deliver(listeners: Iterable<Listener>, frame: Frame): number {
    let reached = 0;
    for (const listener of listeners) {
      if (listener.isAway) continue;
      if (frame.scopes !== undefined && listener.streamFor(frame.scopes) === undefined) continue;
      if (deliver(listener, frame)) reached++;
      else this.close(listener);
    }
    return reached;
  }

  #index(topic: string, listener: Listener): void {
    const listeners = this.topics.get(topic);
    if (listeners?.has(listener)) return;
    this.#count(topic, listener, 1);
    if (listeners !== undefined) return void listeners.add(listener);
    this.topics.set(topic, new Set([listener]));
    this.#watch?.first(topic);
  }

  #count(topic: string, listener: Listener, sign: 1 | -1): void {
    listener.keyLength += sign * keyLengthOf(topic);
    listener.topicChanges++;
    this.#subscribed.count(listener.caller, sign * subscribedBytesOf(topic));
  }

  #unindex(topic: string, listener: Listener): void {
    const listeners = this.topics.get(topic);
    if (!listeners?.delete(listener)) return;
    this.#count(topic, listener, -1);
    if (listeners.size > 0) return;
    this.topics.delete(topic);
    this.#watch?.last(topic);
  }
}

/**
 * Delivers a frame, or the queued messages. Returns false if the transport throws, so that the other listeners still get theirs.
 */
function deliver(listener: Listener, frame?: Frame): boolean {
  try {
    if (frame) return listener.deliver(frame);
    listener.flush();
    return true;
  } catch {
    return false;
  }
}

/** The listeners that take a message. */
function takersOf(listeners: Iterable<Listener>, method: string, params?: object): Iterable<Listener> {
  if (method !== logMessage) return listeners;
  return [...listeners].filter(({ log }) => takes(log, method, params));
}

/** Whether a listener with this log level takes a message: a log message only if the level includes it. */
function takes(
  log: { readonly logLevel: LogLevel | undefined } | undefined,
  method: string,
  params: { readonly level?: unknown } = {},
): boolean {
  return method !== logMessage || !isLogLevel(params.level) || isLogged(params.level, log?.logLevel);
}
