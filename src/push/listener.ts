// A stream that takes pushes: what it asked for, and a bounded queue for when its reader is slow.
import type { LogLevel, Principal } from "../protocol/model.ts";
import { type Grant, isGranted } from "../protocol/scopes.ts";
import type { RequestId } from "../wire/message.ts";
import type { Frame } from "./frame.ts";
import type { QueueBudget, Waiting } from "./queue-budget.ts";
import { changeFrame, type TopicScopes } from "./topic.ts";

/** One open way to a peer, provided by a transport: a pipe, or the response to one request. */
export interface Stream {
  /** Writes one encoded message. False: it was taken, but the reader is behind, and nothing more should come until it drains. */
  write(text: string): boolean;
  /** Whether the reader is behind now. */
  readonly congested: boolean;
  /** Calls back each time the reader has caught up, until the returned function is called. */
  onDrain(callback: () => void): () => void;
  /** Calls back when nobody can be reached on this stream any more, until the returned function is called. */
  onLost(callback: () => void): () => void;
  /** The reader is too slow: the transport closes the stream, and the client comes back. */
  destroy(reason: string): void;
  /**
   * The stream for a push that only readers with these scopes may get: itself or, of several, one whose reader has them;
   * undefined when there is none. @default {itself, if the principal of its connection has the scopes}
   */
  forScopes?(scopes: readonly string[]): Stream | undefined;
  /** Closes the connection but not the stream: the client comes back later and resumes. For streams of which it can. */
  pause?(): void;
}

export interface ListenerOptions {
  readonly stream: Stream;
  /** The name of the transport that the stream belongs to. */
  readonly transport: string;
  /** The notifications, or notification and key, that it takes. */
  readonly topics: Iterable<string>;
  /** A legacy session: reached by broadcast and by name. */
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  /** What may be told to a subscription, or to a session whose stream does not say so itself. */
  readonly grant?: Grant;
  /** Who it counts as, where callers share a limit. */
  readonly caller: string;
  /** Says from which level on it takes log messages; without it, none. */
  readonly log?: { readonly logLevel: LogLevel | undefined } | undefined;
  /** A subscription: every message is stamped with the id of its listen request. */
  readonly subscription?: { readonly id: RequestId };
  /** Messages wait until {@link Listener.release}: for what has to come first, such as an acknowledgement. */
  readonly held?: boolean;
  /**
   * What happens when too much waits: the stream is destroyed, or, for a session that may come back, what waits is
   * forgotten and made good by one notification for each topic. @default {"destroy"}
   */
  readonly overflow?: "destroy" | "gap";
  /** How much may wait, in characters of encoded JSON: bytes, for all but the rarest notification. */
  readonly maxQueueBytes: number;
}

/** Made by {@link Hub.open}; ended by {@link Hub.close}. */
export class Listener implements Waiting {
  readonly session: string | undefined;
  readonly principal: Principal | undefined;
  readonly caller: string;
  readonly topics: Set<string>;
  /** How many characters the keys of its topics have; counted by the hub. */
  keyLength = 0;
  /** How often its topics have changed; counted by the hub. */
  topicChanges = 0;
  readonly log: ListenerOptions["log"];
  readonly #initialTopics: number;
  readonly stream: Stream;
  readonly transport: string;
  readonly #grant: Grant;
  readonly #scopesOf: TopicScopes;
  /** The id of its subscription as JSON. */
  readonly #stamp: string | undefined;
  readonly #maxQueueBytes: number;
  readonly #overflow: "destroy" | "gap";
  readonly #budget: QueueBudget;
  /** Waiting messages in order, by merge key (or a key of their own); nothing, most of the time. */
  #queue: Map<string | symbol, string> | undefined;
  /** What readers need for those of them that name scopes. */
  #queuedScopes: Map<string | symbol, readonly string[]> | undefined;
  #queuedBytes = 0;
  /** Set once something has had to wait: until then it need not know when the reader has caught up. */
  #stopDraining: (() => void) | undefined;
  #held: boolean;
  /** Messages were lost: everything of its topics is told first. A mark rather than those messages, for they may be many. */
  #hasGap = false;
  #closed = false;

  constructor(options: ListenerOptions, budget: QueueBudget, scopesOf: TopicScopes) {
    this.#budget = budget;
    this.#scopesOf = scopesOf;
    this.#grant = options.grant;
    this.session = options.session;
    this.principal = options.principal;
    this.caller = options.caller;
    this.log = options.log;
    this.topics = new Set(options.topics);
    this.#initialTopics = this.topics.size;
    this.stream = options.stream;
    this.#stamp = options.subscription && JSON.stringify(options.subscription.id);
    this.transport = options.transport;
    this.#maxQueueBytes = options.maxQueueBytes;
    this.#overflow = options.overflow ?? "destroy";
    this.#held = options.held === true;
  }

  /** Whether there is somewhere to write to. */
  get reachable(): boolean {
    return !this.#held && !this.#closed;
  }

  /** How many topics were added since it was opened. */
  get addedTopics(): number {
    return this.topics.size - this.#initialTopics;
  }

  /** Where to write what needs these scopes; undefined when nobody who reads may get it. */
  streamFor(scopes: readonly string[] | undefined): Stream | undefined {
    if (scopes === undefined || scopes.length === 0) return this.stream;
    if (this.session !== undefined && this.stream.forScopes) return this.stream.forScopes(scopes);
    return isGranted(scopes, this.#grant) ? this.stream : undefined;
  }

  /**
   * Writes the frame, or keeps it until a reader is ready; when that is one who may not get it, it is dropped. False when the
   * listener is gone, or goes now.
   */
  deliver(frame: Frame): boolean {
    if (this.#closed) return false;
    const text = this.#textOf(frame);
    const stream = this.streamFor(frame.scopes);
    const waits = this.#held || stream?.congested || this.#queue !== undefined || this.#hasGap;
    if (waits) return this.#enqueue(frame.mergeKey ?? Symbol(), text, frame.scopes);
    stream?.write(text);
    return true;
  }

  /** There is nowhere to write to for now: messages wait. */
  hold(): void {
    this.#held = true;
  }

  /** What had to come first has been written, or there is somewhere to write to again. */
  release(): void {
    this.#held = false;
    this.flush();
  }

  /** The reader may be ready: writes what waits, until it is not. */
  flush(): void {
    if (this.#hasGap && this.#mayWrite) this.#fillGap();
    const queue = this.#queue;
    for (const [key, text] of queue ?? []) {
      const stream = this.streamFor(this.#queuedScopes?.get(key));
      if (!this.#mayWrite || stream?.congested) return;
      queue?.delete(key);
      this.#queuedScopes?.delete(key);
      this.#count(this.#queuedBytes - text.length);
      stream?.write(text);
    }
    if (this.#queue?.size === 0) this.#queue = undefined;
  }

  /** Messages were lost: first says everything that the client may have missed, so that it reads it again. */
  makeGood(): void {
    this.#hasGap = true;
    this.#flushWhenDrained();
    this.flush();
  }

  /** Called when too much waits: for this listener, or for all of them. */
  overflow(reason: string): void {
    if (this.#overflow === "gap") {
      this.#forgetQueue();
      this.makeGood();
    } else this.close();
    this.stream.destroy(reason);
  }

  /** Called by the hub; nothing is written afterwards. */
  close(): void {
    this.#closed = true;
    this.#stopDraining?.();
    this.#forgetQueue();
  }

  /** Others may share the stream, so that only the stream itself knows whether its reader is behind. */
  get #mayWrite(): boolean {
    return !this.#held && !this.#closed && !this.stream.congested;
  }

  /** Puts a word on each topic before what waits. */
  #fillGap(): void {
    const waiting = this.#queue ?? [];
    const waitingScopes = this.#queuedScopes;
    this.#forgetQueue();
    this.#hasGap = false;
    for (const topic of this.topics) {
      const frame = changeFrame(topic, this.#scopesOf);
      this.#enter(topic, this.#textOf(frame), frame.scopes);
    }
    for (const [key, text] of waiting) this.#enter(key, text, waitingScopes?.get(key));
  }

  #textOf(frame: Frame): string {
    return this.#stamp === undefined ? frame.plain() : frame.stamped(this.#stamp);
  }

  #enter(key: string | symbol, text: string, scopes: readonly string[] | undefined): void {
    const queue = (this.#queue ??= new Map());
    if (scopes?.length) (this.#queuedScopes ??= new Map()).set(key, scopes);
    else this.#queuedScopes?.delete(key);
    this.#flushWhenDrained();
    this.#count(this.#queuedBytes + text.length - (queue.get(key)?.length ?? 0));
    queue.set(key, text);
  }

  #flushWhenDrained(): void {
    this.#stopDraining ??= this.stream.onDrain(() => this.flush());
  }

  #forgetQueue(): void {
    this.#queue = undefined;
    this.#queuedScopes = undefined;
    this.#count(0);
  }

  #count(bytes: number): void {
    const before = this.#queuedBytes;
    this.#queuedBytes = bytes;
    this.#budget.count(this, bytes, before);
  }

  /** A frame with the key of a waiting one takes its place: the reader gets the latest word, once. */
  #enqueue(key: string | symbol, text: string, scopes: readonly string[] | undefined): boolean {
    this.#enter(key, text, scopes);
    if (this.#queuedBytes > this.#maxQueueBytes) {
      this.overflow(`More than ${this.#maxQueueBytes} bytes waited for a slow reader`);
    } else this.#budget.enforce();
    return !this.#closed;
  }
}
