// A stream that takes pushes: what it asked for, and a mailbox for when nobody reads, or too slowly.
import type { LogLevel, Principal } from "../protocol/model.ts";
import { type Grant, isGranted } from "../protocol/scopes.ts";
import type { RequestId } from "../wire/message.ts";
import type { Frame } from "./frame.ts";
import { Mailbox } from "./mailbox.ts";
import type { QueueBudget, Waiting } from "./queue-budget.ts";
import { changeFrame, type TopicScopes } from "./topic.ts";

/** One open way to a peer, provided by a transport: a pipe, or the response to one request. */
export interface Stream {
  /** Writes one encoded message. False: it was taken, but the reader is behind, and nothing more should come until it drains. */
  write(text: string): boolean;
  /** Whether the reader is behind now. */
  readonly congested: boolean;
  /**
   * Whether a client can be reached on it now. For one that outlives its connections, such as that of a session: what is
   * pushed meanwhile waits until {@link Stream.onDrain} calls back. @default {true}
   */
  readonly reachable?: boolean;
  /** Calls back each time the reader has caught up, until the returned function is called. */
  onDrain(callback: () => void): () => void;
  /** Calls back when nobody can be reached on this stream any more, until the returned function is called. */
  onLost(callback: () => void): () => void;
  /** The reader is too slow: the transport closes the stream, and the client comes back. */
  destroy(reason: string): void;
  /**
   * The stream for a push that only readers with these scopes may get, or any reader if there are none: itself or, of several,
   * the one that takes it; undefined when no reader has them. @default {itself, if the principal of its connection has them}
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
   * What happens when too much waits: the stream is destroyed, or, for a session that may come back, one notification for
   * each topic replaces what waits. @default {"destroy"}
   */
  readonly overflow?: "destroy" | "gap" | undefined;
  /** How much may wait in its mailbox. */
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
  /** Made when something has to wait for the first time; until then it need not know when the reader has caught up. */
  #mailbox: Mailbox | undefined;
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
    return !this.#held && !this.#closed && this.stream.reachable !== false;
  }

  /** How many topics were added since it was opened. */
  get addedTopics(): number {
    return this.topics.size - this.#initialTopics;
  }

  /** Where to write what needs these scopes; undefined when nobody who reads may get it. */
  streamFor(scopes: readonly string[] | undefined): Stream | undefined {
    if (this.session !== undefined && this.stream.forScopes) return this.stream.forScopes(scopes ?? noScopes);
    return scopes === undefined || isGranted(scopes, this.#grant) ? this.stream : undefined;
  }

  /**
   * Writes the frame, or keeps it until a reader is ready; when that is one who may not get it, it is dropped. False when the
   * listener is gone, or goes now.
   */
  deliver(frame: Frame): boolean {
    if (this.#closed) return false;
    const stream = this.streamFor(frame.scopes);
    if (!this.reachable || this.#waits || stream?.congested) return this.#keep(frame);
    stream?.write(this.#textOf(frame));
    return true;
  }

  /** What had to come first has been written. */
  release(): void {
    this.#held = false;
    this.flush();
  }

  /** The reader may be ready: writes what waits, until it is not. */
  flush(): void {
    if (this.#hasGap && this.#mayWrite) this.#fillGap();
    const mailbox = this.#mailbox;
    for (const [key, letter] of mailbox ?? []) {
      const stream = this.streamFor(letter.scopes);
      if (!this.#mayWrite || stream?.congested) return;
      mailbox?.remove(key, letter);
      stream?.write(letter.text);
    }
  }

  /** Messages were lost: what is written next begins with a notification for each topic, so that the client reads all again. */
  markGap(): void {
    this.#hasGap = true;
    this.#flushWhenDrained();
  }

  /** Called when too much waits: for this listener, or for all of them. */
  overflow(reason: string): void {
    if (this.#overflow === "gap") {
      this.#mailbox?.takeAll();
      this.markGap();
    } else this.close();
    this.stream.destroy(reason);
  }

  /** Called by the hub; nothing is written afterwards. */
  close(): void {
    this.#closed = true;
    this.#stopDraining?.();
    this.#mailbox?.takeAll();
  }

  get #waits(): boolean {
    return this.#hasGap || this.#mailbox?.isEmpty === false;
  }

  /** Others may share the stream, so that only the stream itself knows whether its reader is behind. */
  get #mayWrite(): boolean {
    return this.reachable && !this.stream.congested;
  }

  /** Puts a notification for each topic before what waits. */
  #fillGap(): void {
    const waiting = this.#mailbox?.takeAll() ?? [];
    this.#hasGap = false;
    for (const topic of this.topics) this.#put(changeFrame(topic, this.#scopesOf));
    for (const [key, letter] of waiting) this.#mailbox?.put(key, letter);
  }

  #textOf(frame: Frame): string {
    return this.#stamp === undefined ? frame.plain() : frame.stamped(this.#stamp);
  }

  #put(frame: Frame): Mailbox {
    const mailbox = (this.#mailbox ??= new Mailbox(this, this.#budget));
    this.#flushWhenDrained();
    mailbox.put(frame.mergeKey ?? Symbol(), { text: this.#textOf(frame), scopes: frame.scopes });
    return mailbox;
  }

  #flushWhenDrained(): void {
    this.#stopDraining ??= this.stream.onDrain(() => this.flush());
  }

  #keep(frame: Frame): boolean {
    const { bytes } = this.#put(frame);
    if (bytes > this.#maxQueueBytes) {
      this.overflow(`More than ${this.#maxQueueBytes} bytes waited for a slow reader`);
    } else this.#budget.enforce();
    return !this.#closed;
  }
}

const noScopes: readonly string[] = [];
