// A listener: the topics that a stream subscribes to, and a mailbox while its reader is slow or away.
import type { LogLevel, Principal } from "../../protocol/model.ts";
import { type Grant, isGranted } from "../../protocol/principal.ts";
import type { RequestId } from "../../base/wire/message.ts";
import type { Frame } from "./frame.ts";
import { Mailbox } from "./mailbox.ts";
import type { QueueBudget, QueuedListener } from "./queue-budget.ts";
import { changeFrame, type TopicScopes } from "./topic.ts";

/** A way to send messages to a peer, provided by a transport: a pipe, or the response to one request. */
export interface Stream {
  /**
   * Writes one encoded message. Returns false if the reader is behind: write no more until it has drained. `position` is the place
   * of the message in the log of changes that the nodes of a cluster share.
   */
  write(text: string, position?: string): boolean;
  /**
   * Writes a question, or withdraws one, on a stream that keeps only those. If the promise rejects, the question fails with its error.
   * @default {write}
   */
  ask?(text: string): void | Promise<void>;
  /** Whether the reader is behind now. */
  readonly congested: boolean;
  /**
   * Whether a client is connected, for a stream that outlives its connections. Otherwise pushes wait until
   * {@link Stream.onDrain} calls back. @default {true}
   */
  readonly reachable?: boolean;
  /**
   * Set if the stream reads from the logs what it missed while no client was connected: the listener then drops messages instead of
   * queueing them. Call {@link Listener.forget} when the client disconnects.
   */
  readonly recovers?: true;
  /** Calls `callback` each time the reader has caught up, until you call the returned function. */
  onDrain(callback: () => void): () => void;
  /** Calls `callback` when the client can no longer be reached on this stream, until you call the returned function. */
  onLost(callback: () => void): () => void;
  /** Closes the stream because the reader is too slow; the client may reconnect. */
  destroy(reason: string): void;
  /**
   * Returns the stream for a push that requires these scopes, which may be this one or one of several behind it; undefined if no
   * reader has them. @default {itself, if the principal of its connection has them}
   */
  forScopes?(scopes: readonly string[]): Stream | undefined;
  /** Closes the connection but not the stream, so that the client reconnects and resumes. Only for resumable streams. */
  pause?(): void;
}

export interface ListenerOptions {
  readonly stream: Stream;
  /** The name of the transport that the stream belongs to. */
  readonly transport: string;
  /** The topics that it subscribes to. */
  readonly topics: Iterable<string>;
  /** Set for a legacy session, which also gets broadcasts and messages by session id. */
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  /** The scopes of the reader, unless the stream has `forScopes`. */
  readonly grant?: Grant;
  /** The key that limits count it for. */
  readonly caller: string;
  /** The least level of log messages that it gets. Undefined if it gets none. */
  readonly log?: { readonly logLevel: LogLevel | undefined } | undefined;
  /** Set for a subscription: every message carries the id of its listen request. */
  readonly subscription?: { readonly id: RequestId };
  /** Whether messages wait until {@link Listener.release}, because an acknowledgement must come first. */
  readonly held?: boolean;
  /**
   * The reaction to a full mailbox: `destroy` closes the stream; `gap`, for a session that may reconnect, replaces the queued
   * messages by one notification for each topic. @default {"destroy"}
   */
  readonly overflow?: "destroy" | "gap" | undefined;
  /** Bytes that its mailbox may hold. */
  readonly maxQueueBytes: number;
}

/** Opened by {@link Hub.open} and closed by {@link Hub.close}. */
export class Listener implements QueuedListener {
  readonly session: string | undefined;
  readonly principal: Principal | undefined;
  readonly caller: string;
  readonly topics: Set<string>;
  /** The characters in the keys of its topics; the hub counts them. */
  keyLength = 0;
  /** How often its topics have changed; the hub counts it. */
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
  /** Created when the first message has to wait. */
  #mailbox: Mailbox | undefined;
  #stopDraining: (() => void) | undefined;
  #held: boolean;
  /**
   * Whether messages were lost, so that a notification for each topic comes first. A flag takes less memory than the
   * notifications.
   */
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

  /** Whether messages can be written now. */
  get reachable(): boolean {
    return !this.#held && !this.#closed && this.stream.reachable !== false;
  }

  /** Whether there is no reader now and a later one gets everything from the logs, so that no message needs to be queued. */
  get isAway(): boolean {
    return this.stream.recovers === true && !this.reachable;
  }

  /** How many topics were added since it opened. */
  get addedTopics(): number {
    return this.topics.size - this.#initialTopics;
  }

  /** The bytes in its mailbox. */
  get queued(): number {
    return this.#mailbox?.bytes ?? 0;
  }

  /** The stream for a message that requires these scopes; undefined if no reader has them. */
  streamFor(scopes: readonly string[] | undefined): Stream | undefined {
    if (this.session !== undefined && this.stream.forScopes) return this.stream.forScopes(scopes ?? noScopes);
    return scopes === undefined || isGranted(scopes, this.#grant) ? this.stream : undefined;
  }

  /**
   * Writes the frame, or queues it until a reader is ready; a frame whose scopes the reader lacks is dropped. Returns false if the
   * listener is closed, or overflows and closes now.
   */
  deliver(frame: Frame): boolean {
    if (this.#closed) return false;
    const stream = this.streamFor(frame.scopes);
    if (!this.reachable || this.#waits || stream?.congested) return this.#keep(frame);
    stream?.write(this.textOf(frame), frame.position);
    return true;
  }

  /** Lets messages pass, after the acknowledgement has been written. */
  release(): void {
    this.#held = false;
    this.flush();
  }

  /** Writes queued messages until the reader is behind. */
  flush(): void {
    if (this.#hasGap && this.#mayWrite) this.#fillGap();
    const mailbox = this.#mailbox;
    for (const [key, letter] of mailbox ?? []) {
      const stream = this.streamFor(letter.scopes);
      if (!this.#mayWrite || stream?.congested) return;
      mailbox?.remove(key, letter);
      stream?.write(letter.text, letter.position);
    }
  }

  /** Records that messages were lost: the next write begins with a notification for each topic. */
  markGap(): void {
    this.#hasGap = true;
    this.#flushWhenDrained();
  }

  /** Drops the queued messages, because the client has disconnected and gets them from the logs when it returns. */
  forget(): void {
    this.#hasGap = false;
    this.#mailbox?.takeAll();
  }

  /** The text of a frame for this listener. */
  textOf(frame: Frame): string {
    return this.#stamp === undefined ? frame.plain() : frame.stamped(this.#stamp);
  }

  /** Called when the mailbox of this listener, or the budget of all, is exceeded. */
  overflow(reason: string): void {
    if (this.#overflow === "gap") {
      this.#mailbox?.takeAll();
      if (!this.stream.recovers) this.markGap();
    } else this.close();
    this.stream.destroy(reason);
  }

  /** Called by the hub; writes nothing afterwards. */
  close(): void {
    this.#closed = true;
    this.#stopDraining?.();
    this.#mailbox?.takeAll();
  }

  get #waits(): boolean {
    return this.#hasGap || this.#mailbox?.isEmpty === false;
  }

  /** Asks the stream whether its reader is behind, since others may write to it too. */
  get #mayWrite(): boolean {
    return this.reachable && !this.stream.congested;
  }

  /** Queues a notification for each topic before the other messages. */
  #fillGap(): void {
    const waiting = this.#mailbox?.takeAll() ?? [];
    this.#hasGap = false;
    for (const topic of this.topics) this.#put(changeFrame(topic, this.#scopesOf));
    for (const [key, letter] of waiting) this.#mailbox?.put(key, letter);
  }

  #put(frame: Frame): Mailbox {
    const mailbox = (this.#mailbox ??= new Mailbox(this, this.#budget));
    this.#flushWhenDrained();
    const { mergeKey = Symbol(), scopes, position } = frame;
    mailbox.put(mergeKey, { text: this.textOf(frame), scopes, position });
    return mailbox;
  }

  #flushWhenDrained(): void {
    this.#stopDraining ??= this.stream.onDrain(() => this.flush());
  }

  #keep(frame: Frame): boolean {
    const { bytes } = this.#put(frame);
    if (bytes > this.#maxQueueBytes) {
      this.overflow(`More than ${this.#maxQueueBytes} bytes are queued for a slow reader`);
    } else this.#budget.enforce();
    return !this.#closed;
  }
}

const noScopes: readonly string[] = [];
