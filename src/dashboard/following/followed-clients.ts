// The clients whose timelines are open: keeps their entries, and follows them only meanwhile.
import { inBackground } from "../../base/async/timers.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { randomId } from "../../base/wire/crypto.ts";
import type { Follow, Followed, ServerWindow } from "../../window/index.ts";
import { Conversation } from "./conversation.ts";
import { History } from "./history.ts";
import { keptOf } from "./kept.ts";
import { followingLimits } from "./limits.ts";
import { Track } from "./track.ts";

/** A followed client. */
export interface FollowedClient {
  readonly track: Track;
  /** When following began, or the history. */
  readonly since: number;
  /** Undefined with a history, for which all clients are followed. */
  readonly follow: Follow | undefined;
  readonly conversation: Conversation;
  askedAt: number;
}

/** How often it looks for clients whose timelines are no longer open. */
const checkMs = 5000;
/** The smallest fraction of a millisecond that a number of this size can represent. */
const markStep = 0.001;
/** What may wait until an item is read: as much as a client's timeline keeps. */
const waiting = { maxWaiting: followingLimits.maxMessages, maxCharacters: followingLimits.maxCharacters };

export class FollowedClients {
  /**
   * The prefix of the ids of entries, so that they differ on all nodes. Workers have no random numbers until the first request.
   */
  #prefix: string | undefined;
  readonly #history: History | undefined;
  readonly #window: ServerWindow;
  /** Follows all clients, for the history. */
  readonly #everyone: Follow | undefined;
  readonly #clients = new Map<string, FollowedClient>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #count = 0;
  #lastMark = 0;

  /** With `history` it follows every client from the start, and keeps that many messages. */
  constructor(window: ServerWindow, history: number) {
    this.#window = window;
    if (history === 0) return;
    this.#history = new History(history);
    this.#everyone = window.follow(waiting, (batch) => {
      for (const item of batch) this.#takeOfEveryone(keptOf(item));
    });
  }

  /** Stops following all clients, and drops their entries. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { follow } of this.#clients.values()) follow?.stop();
    this.#clients.clear();
    this.#everyone?.stop();
  }

  /** Returns a different number each time, which grows with time. The marks of two nodes differ as much as their clocks. */
  mark(): number {
    this.#lastMark = Math.max(this.#lastMark + markStep, Date.now());
    return this.#lastMark;
  }

  /** Follows the client from now on, until its timeline is closed. */
  follow(peer: string): FollowedClient {
    const client = this.#clients.get(peer) ?? this.#begin(peer);
    client.askedAt = performance.now();
    this.#flush(client);
    return client;
  }

  /** The client, if it is followed. */
  find(peer: string): FollowedClient | undefined {
    const client = this.#clients.get(peer);
    if (client !== undefined) this.#flush(client);
    return client;
  }

  #flush({ follow }: FollowedClient): void {
    (follow ?? this.#everyone)?.flush();
  }

  #takeOfEveryone(item: Followed): void {
    this.#history?.add(item);
    const client = this.#clients.get(item.peer);
    if (client !== undefined) this.#understand(client.conversation, item);
  }

  /** An error here must not fail the request, whatever a client or a tool has sent. */
  #understand(conversation: Conversation, item: Followed): void {
    try {
      conversation.take(item);
    } catch (error) {
      const log = RateLimitedLog.of(this.#window.logger);
      log.error("The dashboard left something out of a timeline", { error });
    }
  }

  #begin(peer: string): FollowedClient {
    this.#prefix ??= randomId(6);
    const track = new Track(`${this.#prefix}-${++this.#count}`, () => this.mark());
    const conversation = new Conversation(track);
    this.#everyone?.flush();
    for (const item of this.#history?.of(peer) ?? []) this.#understand(conversation, item);
    const follow =
      this.#everyone === undefined
        ? this.#window.follow({ peer, ...waiting }, (batch, dropped) => {
            track.droppedMessages += dropped;
            for (const item of batch) this.#understand(conversation, keptOf(item));
          })
        : undefined;
    const since = this.#history?.since ?? Date.now();
    const client: FollowedClient = { track, conversation, follow, since, askedAt: 0 };
    if (this.#clients.size >= followingLimits.maxFollowed) this.#dropUnasked();
    this.#clients.set(peer, client);
    this.#timer ??= this.#wait();
    return client;
  }

  /** Drops the client whose timeline was requested longest ago. */
  #dropUnasked(): void {
    const byTime = [...this.#clients].toSorted(([, one], [, other]) => one.askedAt - other.askedAt);
    const [longest] = byTime[0] ?? [];
    if (longest !== undefined) this.#drop(longest);
  }

  #drop(peer: string): void {
    this.#clients.get(peer)?.follow?.stop();
    this.#clients.delete(peer);
  }

  /** Drops the clients whose timelines are closed, at intervals until no client is left. */
  #wait(): ReturnType<typeof setTimeout> {
    const check = (): void => {
      const latest = performance.now() - followingLimits.unaskedMs;
      for (const [peer, { askedAt }] of this.#clients) if (askedAt <= latest) this.#drop(peer);
      this.#timer = this.#clients.size > 0 ? this.#wait() : undefined;
    };
    return inBackground(setTimeout(check, checkMs));
  }
}
