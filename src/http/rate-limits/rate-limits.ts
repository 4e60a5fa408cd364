// One check for every route, before its body is read: how often this caller has asked, and how much of its is running.
import type { Principal } from "../../protocol/model.ts";
import { principalKey } from "../../protocol/principal.ts";
import { type Incoming, isBatch, isSilentIncoming } from "../../wire/message.ts";
import { addressKey } from "../../limits/address-key.ts";
import { type Caller, Callers, TokenBucket } from "./callers.ts";
import type { RateLimitSettings } from "./options.ts";

export class RateLimits {
  readonly addresses: Callers | undefined;
  readonly principals: Callers | undefined;
  readonly now: () => number;
  /** By session: what a client past its limit may still say. Only of those that were past it. */
  readonly #answers = new WeakMap<object, TokenBucket>();

  constructor({ perAddress, perPrincipal, now }: RateLimitSettings, maxCallers: number) {
    this.addresses = perAddress && new Callers(perAddress, maxCallers);
    this.principals = perPrincipal && new Callers(perPrincipal, maxCallers);
    this.now = now;
  }

  /** How many callers are being counted. */
  get size(): number {
    return (this.addresses?.size ?? 0) + (this.principals?.size ?? 0);
  }

  answersOf(session: object): TokenBucket {
    const known = this.#answers.get(session);
    if (known !== undefined) return known;
    const bucket = new TokenBucket();
    this.#answers.set(session, bucket);
    return bucket;
  }
}

/** One request, and the callers that it is counted for while it is being answered. */
export class CountedRequest {
  readonly #limits: RateLimits;
  readonly #callers: Caller[] = [];
  #weight = 1;
  /** What refused it. */
  #past: Callers | undefined;
  /** Whether it may go on past the limit, to be read for what needs no answer. */
  #maySpeak = false;
  /** Seconds after which it is worth trying again, once it has been refused. */
  retryAfter = 0;

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /** Counts it for its address. */
  countAddress(address: string | undefined): void {
    const { addresses } = this.#limits;
    if (addresses !== undefined) this.#take(addresses, addressKey(address ?? ""));
  }

  /** Counts it for its principal; one of nobody in particular is counted for its address alone. */
  countPrincipal(principal: Principal | undefined): void {
    const { principals } = this.#limits;
    if (principals === undefined || principal === undefined) return;
    this.#take(principals, principalKey(principal));
  }

  /** Whether it is refused as it stands. A client in a session may still speak past its limit: see {@link admits}. */
  isRefused(findSession: () => object | undefined): boolean {
    if (this.#past === undefined || this.#maySpeak) return false;
    const session = findSession();
    if (session === undefined) return true;
    const { rate } = this.#past;
    this.#maySpeak = this.#limits.answersOf(session).take(rate, this.#limits.now()) === 0;
    return !this.#maySpeak;
  }

  /**
   * Whether what has been read may go on. Past the limit only what needs no answer may: a running call would wait in
   * vain for the answer to its question, or go on after it was cancelled. A batch counts as its messages.
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

  /** Counts it for longer than the request, since its answer comes on another one: {@link release} is called once more. */
  retain(): void {
    for (const caller of this.#callers) caller.running += this.#weight;
  }

  release(): void {
    for (const caller of this.#callers) caller.running -= this.#weight;
  }

  #take(of: Callers, key: string): void {
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
}
