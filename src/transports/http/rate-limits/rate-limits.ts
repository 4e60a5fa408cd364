// Applies the rate limits to each request: how many its caller has sent, and how many of them are running.
import { type Incoming, isBatch, isSilentIncoming } from "../../../base/wire/message.ts";
import { type RatedCaller, Callers, TokenBucket } from "./callers.ts";
import type { RateLimitSettings } from "./options.ts";

export class RateLimits {
  readonly addresses: Callers | undefined;
  readonly principals: Callers | undefined;
  readonly now: () => number;
  /** By session, the bucket for answers of a client that has exceeded its limit. */
  readonly #answers = new WeakMap<object, TokenBucket>();

  constructor({ perAddress, perPrincipal, now }: RateLimitSettings, maxCallers: number) {
    this.addresses = perAddress && new Callers(perAddress, maxCallers);
    this.principals = perPrincipal && new Callers(perPrincipal, maxCallers);
    this.now = now;
  }

  /** The number of callers in both tables. */
  get size(): number {
    return (this.addresses?.size ?? 0) + (this.principals?.size ?? 0);
  }

  answersOf(session: object): TokenBucket {
    let bucket = this.#answers.get(session);
    if (bucket === undefined) this.#answers.set(session, (bucket = new TokenBucket()));
    return bucket;
  }
}

/** One request, and the callers that it counts for until it has been answered. */
export class CountedRequest {
  readonly #limits: RateLimits;
  readonly #callers: RatedCaller[] = [];
  #weight = 1;
  /** The limit that it exceeds. */
  #past: Callers | undefined;
  /** Whether its body may be read in spite of that, since it may hold an answer or a notification. */
  #maySpeak = false;
  /** If it was refused, the seconds to wait before the next try. */
  retryAfter = 0;

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /** Counts it for a caller, by address or by principal. */
  count(of: Callers, key: string): void {
    const now = this.#limits.now();
    const caller = of.find(key, now);
    const waitMs = caller.running >= of.concurrent ? 1000 : caller.bucket.take(of.rate, now);
    if (waitMs === 0) {
      caller.running++;
      this.#callers.push(caller);
      return;
    }
    this.#past = of;
    this.retryAfter = Math.max(this.retryAfter, Math.ceil(waitMs / 1000));
  }

  /** Whether to refuse it before reading its body. A client with a session may still send what {@link admits} allows. */
  isRefused(findSession: () => object | undefined): boolean {
    if (this.#past === undefined || this.#maySpeak) return false;
    const session = findSession();
    if (session === undefined) return true;
    const { rate } = this.#past;
    this.#maySpeak = this.#limits.answersOf(session).take(rate, this.#limits.now()) === 0;
    return !this.#maySpeak;
  }

  /**
   * Whether to accept the message. Above the limit, only answers and notifications pass, since running calls may wait for an answer
   * or be cancelled by a notification. A batch counts as many times as it has messages.
   */
  admits(incoming: Incoming, maxBatch: number): boolean {
    if (this.#past !== undefined) return isSilentIncoming(incoming);
    const more = isBatch(incoming) ? Math.min(incoming.length, maxBatch) - 1 : 0;
    if (more <= 0) return true;
    this.#weight += more;
    for (const caller of this.#callers) {
      caller.running += more;
      caller.bucket.owe(caller.of.rate, more);
    }
    return true;
  }

  /** Counts it once more, until a second {@link release}: its response is sent on another stream. */
  retain(): void {
    for (const caller of this.#callers) caller.running += this.#weight;
  }

  release(): void {
    for (const caller of this.#callers) caller.running -= this.#weight;
  }
}
