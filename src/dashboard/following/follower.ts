// Follows clients of an endpoint: keeps the entries of their timelines while a page shows them, and listens to the endpoint only
// meanwhile.
import { inBackground } from "../../base/async/timers.ts";
import type { HttpState } from "../../transports/http/state.ts";
import { randomId } from "../../base/wire/crypto.ts";
import { coreOf } from "../../server/calls/port.ts";
import { Observing } from "../sampling/observing.ts";
import { Running } from "../sampling/running.ts";
import { Conversation } from "./conversation.ts";
import type { Heard } from "./heard.ts";
import { Hearing, type Listening } from "./hearing.ts";
import { History } from "./history.ts";
import { followingLimits } from "./limits.ts";
import { Track } from "./track.ts";

/** A followed client. */
export interface Followed {
  readonly track: Track;
  readonly conversation: Conversation;
  /** When following began, or the history. */
  readonly since: number;
  askedAt: number;
}

/** How often it looks for clients whose timelines are no longer open. */
const checkMs = 5000;
/** The smallest fraction of a millisecond that a number of this size can represent. */
const markStep = 0.001;

export class Follower implements Listening {
  /**
   * The prefix of the ids of entries, so that they differ on all nodes. Workers have no random numbers until the first request.
   */
  #prefix: string | undefined;
  readonly #history: History | undefined;
  readonly #hearing = new Hearing(this);
  readonly #endpoint: HttpState;
  /** Stops listening to the endpoint; undefined while it does not listen. */
  #stop: (() => void) | undefined;
  readonly #followed = new Map<string, Followed>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #count = 0;
  #lastMark = 0;

  /** With `history` it listens to every client from the start, and keeps that many messages. */
  constructor(endpoint: HttpState, history: number) {
    this.#endpoint = endpoint;
    this.#history = history > 0 ? new History(history) : undefined;
    if (this.#history !== undefined) this.#hear();
  }

  /** Stops following all clients, and drops their entries. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#followed.clear();
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Returns a different number each time, which grows with time. The marks of two nodes differ as much as their clocks. */
  mark(): number {
    this.#lastMark = Math.max(this.#lastMark + markStep, Date.now());
    return this.#lastMark;
  }

  /** Follows the client from now on, until its timeline is closed. */
  follow(peer: string): Followed {
    const followed = this.#followed.get(peer) ?? this.#begin(peer);
    followed.askedAt = performance.now();
    return followed;
  }

  /** The client, if it is followed. */
  find(peer: string): Followed | undefined {
    return this.#followed.get(peer);
  }

  get running(): Running | undefined {
    const { running } = coreOf(this.#endpoint.server);
    return running instanceof Running ? running : undefined;
  }

  wants(peer: string): boolean {
    return this.#history !== undefined || this.#followed.has(peer);
  }

  followed(): Iterable<string> {
    return this.#followed.keys();
  }

  ownerOf(taskId: string): string | undefined {
    for (const [peer, { conversation }] of this.#followed) if (conversation.hasTask(taskId)) return peer;
    return undefined;
  }

  take(peer: string, heard: Heard): void {
    this.#history?.add(peer, heard);
    const followed = this.#followed.get(peer);
    if (followed !== undefined) this.#understand(followed.conversation, heard);
  }

  /** An error here must not fail the request, whatever a client or a tool has sent. */
  #understand(conversation: Conversation, heard: Heard): void {
    try {
      conversation.take(heard);
    } catch (error) {
      this.#endpoint.rateLimitedLog.error("The dashboard left something out of a timeline", { error });
    }
  }

  #begin(peer: string): Followed {
    this.#prefix ??= randomId(6);
    const track = new Track(`${this.#prefix}-${++this.#count}`, () => this.mark());
    const conversation = new Conversation(track);
    const past = this.#history?.of(peer) ?? [];
    for (const heard of past.length > 0 ? past : this.#hearing.present(peer, this.#endpoint))
      this.#understand(conversation, heard);
    const followed = { track, conversation, since: this.#history?.since ?? Date.now(), askedAt: 0 };
    if (this.#followed.size >= followingLimits.maxFollowed) this.#dropUnasked();
    this.#followed.set(peer, followed);
    this.#hear();
    this.#timer ??= this.#wait();
    return followed;
  }

  /** Drops the client whose timeline was requested longest ago. */
  #dropUnasked(): void {
    const byTime = [...this.#followed].toSorted(([, one], [, other]) => one.askedAt - other.askedAt);
    const [longest] = byTime[0] ?? [];
    if (longest !== undefined) this.#followed.delete(longest);
  }

  /** Drops the clients whose timelines are closed, at intervals until no client is left. */
  #wait(): ReturnType<typeof setTimeout> {
    const check = (): void => {
      const latest = performance.now() - followingLimits.unaskedMs;
      for (const [peer, { askedAt }] of this.#followed) if (askedAt <= latest) this.#followed.delete(peer);
      if (this.#followed.size > 0) this.#timer = this.#wait();
      else this.#rest();
    };
    return inBackground(setTimeout(check, checkMs));
  }

  #rest(): void {
    this.#timer = undefined;
    if (this.#history === undefined) this.close();
  }

  #hear(): void {
    if (this.#stop !== undefined) return;
    const endpoint = this.#endpoint;
    endpoint.witness = this.#hearing;
    const stop = Observing.of(coreOf(endpoint.server).settings).add(this.#hearing.hear);
    this.#stop = () => {
      stop();
      endpoint.witness = undefined;
    };
  }
}
