// Applies the rate limits to each request: how many its caller has sent, and how many of them are running. The table of callers
// has a fixed maximum size.
import { type Incoming, isBatch, isSilentIncoming } from "../../base/wire/message.ts";
import type { CallerLimits, RateLimitSettings } from "./rate-limit-options.ts";

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

/** One token each `intervalMs`; after a pause, as many at once as fit into `aheadMs`. */
interface Rate {
  readonly intervalMs: number;
  readonly aheadMs: number;
}

function rateOf(perMinute: number, burst: number): Rate {
  const intervalMs = 60_000 / perMinute;
  // For an infinite rate, `intervalMs * burst` may be NaN.
  return { intervalMs, aheadMs: intervalMs === 0 ? 0 : intervalMs * burst };
}

/** Shorter waits are rounding errors. */
const toleranceMs = 0.001;

/** A token bucket in one number, since there may be thousands. */
class TokenBucket {
  /** When the bucket will be full again. */
  #fullAt = Number.NEGATIVE_INFINITY;

  isFull(now: number): boolean {
    return this.#fullAt <= now;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take({ intervalMs, aheadMs }: Rate, now: number): number {
    const fullAt = Math.max(this.#fullAt, now);
    const waitMs = fullAt + intervalMs - aheadMs - now;
    if (waitMs > toleranceMs) return waitMs;
    this.#fullAt = fullAt + intervalMs;
    return 0;
  }

  /** Takes tokens even if there are none left; later requests wait for them. */
  owe({ intervalMs }: Rate, count: number): void {
    this.#fullAt += intervalMs * count;
  }
}

/** One caller, or all callers that did not fit into the table. */
interface RatedCaller {
  readonly of: Callers;
  readonly bucket: TokenBucket;
  running: number;
}

/** How often a full table is searched for callers to drop. */
const searchEveryMs = 1000;

/**
 * Drops only callers with a full bucket and nothing running, so no caller gets a fresh bucket by having its old one evicted. While
 * the table is full, all new callers share one bucket, which bounds what many addresses get together.
 */
export class Callers {
  readonly rate: Rate;
  readonly concurrent: number;
  readonly #max: number;
  readonly #known = new Map<string, RatedCaller>();
  readonly #others: RatedCaller = { of: this, bucket: new TokenBucket(), running: 0 };
  #nextSearch = Number.NEGATIVE_INFINITY;

  constructor({ perMinute, burst, concurrent }: CallerLimits, max: number) {
    this.rate = rateOf(perMinute, burst);
    this.concurrent = concurrent;
    this.#max = max;
  }

  get size(): number {
    return this.#known.size;
  }

  find(key: string, now: number): RatedCaller {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#max) this.#forgetRested(now);
    if (this.#known.size >= this.#max) return this.#others;
    const caller = { of: this, bucket: new TokenBucket(), running: 0 };
    this.#known.set(key, caller);
    return caller;
  }

  #forgetRested(now: number): void {
    if (now < this.#nextSearch) return;
    this.#nextSearch = now + searchEveryMs;
    for (const [key, { bucket, running }] of this.#known) {
      if (running === 0 && bucket.isFull(now)) this.#known.delete(key);
    }
  }
}
