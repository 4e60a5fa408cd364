// The results of lists and reads that are still fresh. It belongs to one client, and so to one dialled address.
import { ageOf, type Moment, thisMoment } from "../../base/async/timers.ts";
import { isThenable } from "../../base/async/promises.ts";
import { listChanged, resourceUpdated } from "../../protocol/notifications.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { sizeOf } from "../../base/wire/size.ts";
import type { ClientCore } from "../calls/core.ts";
import type { CallBudget } from "../channel/channel.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** A list or a read. */
export interface Lookup<Value extends object> {
  readonly method: string;
  readonly params?: JsonObject | undefined;
  /** Turns the result into the value that is cached and returned. Throws if the result is invalid. */
  readonly read: (result: JsonObject) => Value;
  /** Ends the request, beside the caller's own signal. */
  readonly until?: AbortSignal | undefined;
  /** The budget of the call that the lookup belongs to. */
  readonly budget?: CallBudget | undefined;
  /** Called each time that the request is sent. */
  readonly onSent?: (() => void) | undefined;
}

/** A result, frozen, and about how many bytes it takes. */
export interface CachedResult<Value extends object> {
  readonly value: Value;
  readonly size: number;
}

interface Kept {
  readonly method: string;
  readonly request: string;
  readonly found: CachedResult<object>;
  /** With its request and key. */
  readonly size: number;
  readonly isPrivate: boolean;
  readonly receivedAt: Moment;
  readonly timeMs: number;
}

/** The keys of a request, with and without its credentials. */
interface Keys {
  readonly request: string;
  readonly key: string;
}

/** A request that waits for its response. */
interface Flight extends Keys {
  readonly method: string;
  /** False if a change has arrived since the request was last sent, because the response may be older than the change. */
  isCurrent: boolean;
}

/** The notifications that make lists stale. */
const stale: readonly (readonly [notification: string, methods: readonly string[]])[] = [
  [listChanged.tools, ["tools/list"]],
  [listChanged.prompts, ["prompts/list"]],
  [listChanged.resources, ["resources/list", "resources/templates/list"]],
];

/**
 * Returns cached lists and reads, or requests them. All values are frozen, because callers share them.
 *
 * Equal requests without options share one request if they are made in the same turn, or while the first one waits if the server
 * allows its results to be cached. Otherwise a caller could receive a list that is older than its own last change.
 */
export class ResultCache {
  readonly #core: ClientCore;
  readonly #isOn: boolean;
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>();
  readonly #flights = new Set<Flight>();
  readonly #shared = new Map<string, Promise<CachedResult<object>>>();
  /** The methods whose last result could be cached. */
  readonly #lasting = new Set<string>();
  #size = 0;

  constructor(core: ClientCore, isOn: boolean) {
    this.#core = core;
    this.#isOn = isOn;
    for (const [notification, methods] of stale)
      core.onNotification(notification, () => this.discard(...methods));
    core.onNotification(resourceUpdated, ({ params }) => this.#discardRead(params?.["uri"]));
    core.onGap(() => this.discardAll());
    core.onReopened(() => this.discardAll());
    core.onCredentials(() => this.#drop((held) => !("isPrivate" in held) || held.isPrivate));
  }

  /**
   * Returns a fresh result from the cache, or asks the server. A call with its own headers or `_meta` may be for another user, so
   * it bypasses the cache.
   */
  async get<Value extends object>(
    lookup: Lookup<Value>,
    options: CallOptions | undefined,
  ): Promise<CachedResult<Value>> {
    const request = requestOf(lookup.method, lookup.params);
    const isOwn = options?.headers !== undefined || options?.meta !== undefined;
    const canCache = this.#isOn && !isOwn && isCacheable(lookup.method, this.#core);
    if (!canCache) return this.#ask(lookup, { request, key: request }, options, false);
    const credentials = this.#core.credentials();
    const owner = isThenable(credentials) ? await credentials : credentials;
    const key = owner === undefined ? request : `${request} ${owner}`;
    if (this.#core.closed.aborted || options?.signal?.aborted)
      return this.#ask(lookup, { request, key }, options, false);
    const found = options?.fresh ? undefined : this.#find(key);
    if (found !== undefined) {
      this.#observeHit(lookup);
      return found as CachedResult<Value>;
    }
    const keys = { request, key };
    return isPlain(options) ? this.#share(lookup, keys) : this.#ask(lookup, keys, options, true);
  }

  /** Forgets all results of these methods. */
  discard(...methods: readonly string[]): void {
    this.#drop(({ method }) => methods.includes(method));
  }

  /** Forgets everything. */
  discardAll(): void {
    this.#drop(() => true);
  }

  #discardRead(uri: unknown): void {
    const updated = requestOf("resources/read", { uri });
    this.#drop(({ request }) => request === updated);
  }

  /** Drops the cached results and the running requests that `isMeant` selects. */
  #drop(isMeant: (held: Kept | Flight) => boolean): void {
    for (const [key, kept] of this.#kept) if (isMeant(kept)) this.#remove(key, kept);
    for (const flight of this.#flights) {
      if (!isMeant(flight)) continue;
      flight.isCurrent = false;
      this.#shared.delete(flight.key);
    }
  }

  #find(key: string): CachedResult<object> | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (ageOf(kept.receivedAt) < kept.timeMs) return kept.found;
    this.#remove(key, kept);
    return undefined;
  }

  #share<Value extends object>(lookup: Lookup<Value>, keys: Keys): Promise<CachedResult<Value>> {
    const { key } = keys;
    const shared = this.#shared.get(key);
    if (shared !== undefined) return shared as Promise<CachedResult<Value>>;
    const asked = this.#ask(lookup, keys, undefined, true);
    this.#shared.set(key, asked);
    const forget = (): void => {
      if (this.#shared.get(key) === asked) this.#shared.delete(key);
    };
    if (this.#lasting.has(lookup.method)) asked.then(forget, forget);
    else queueMicrotask(forget);
    return asked;
  }

  async #ask<Value extends object>(
    { method, params, read, until, budget, onSent }: Lookup<Value>,
    keys: Keys,
    options: CallOptions | undefined,
    canCache: boolean,
  ): Promise<CachedResult<Value>> {
    const flight: Flight = { method, ...keys, isCurrent: true };
    // A round sends the request again, and the results of rounds are never cached.
    let timesSent = 0;
    this.#flights.add(flight);
    try {
      const signal = either(options?.signal, until);
      const result = await this.#core.request(method, params, {
        ...options,
        ...(signal && { signal }),
        budget,
        onSent: () => {
          timesSent++;
          flight.isCurrent = true;
          onSent?.();
        },
      });
      const value = read(result);
      const found = { value, size: sizeOf(value, Object.freeze) };
      if (canCache && flight.isCurrent && timesSent < 2) this.#keep(flight, found, result);
      return found;
    } finally {
      this.#flights.delete(flight);
    }
  }

  #keep({ method, request, key }: Flight, found: CachedResult<object>, result: JsonObject): void {
    const { timeMs, isPrivate } = freshnessOf(result, this.#core);
    const before = this.#kept.get(key);
    if (before) this.#remove(key, before);
    const { maxCached, maxCachedBytes } = this.#core.limits;
    const size = found.size + request.length + key.length;
    if (timeMs === 0 || size > maxCachedBytes) return void this.#lasting.delete(method);
    this.#lasting.add(method);
    this.#kept.set(key, { method, request, found, size, isPrivate, receivedAt: thisMoment(), timeMs });
    this.#size += size;
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= maxCached && this.#size <= maxCachedBytes) break;
      this.#remove(oldest, kept);
    }
  }

  #remove(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#size -= kept.size;
  }

  #observeHit({ method, params }: Lookup<object>): void {
    const name = params?.["uri"] as string | undefined;
    this.#core.observe({ type: "request", method, name, durationMs: 0, outcome: "cached", attempts: 0 });
  }
}

function requestOf(method: string, params: JsonObject | undefined): string {
  return params === undefined ? method : `${method} ${JSON.stringify(params)}`;
}

function either(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

function isPlain(options: CallOptions | undefined): boolean {
  return options === undefined || Object.values(options).every((value) => value === undefined);
}

/** The longest time that a result stays fresh, whatever its server says. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * The lists whose changes legacy servers announce, by method, with the capability whose `listChanged` promises it. Templates have
 * no notification.
 */
const announced: { readonly [method: string]: "tools" | "prompts" | "resources" } = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
};

/** Whether results of this method can be cached at the moment. */
function isCacheable(method: string, core: ClientCore): boolean {
  const { revision, capabilities } = core.peer;
  if (revision.requests.get(method)?.cacheable) return true;
  const kind = revision.era === "legacy" ? announced[method] : undefined;
  return kind !== undefined && core.isListening && capabilities[kind]?.listChanged === true;
}

/** How long a result stays fresh, and whether it is for the current credentials only. */
export interface Freshness {
  readonly timeMs: number;
  readonly isPrivate: boolean;
}

/** Reads the freshness of a result. A time that is not a positive number counts as 0, an unknown scope as private. */
function freshnessOf(result: JsonObject, core: ClientCore): Freshness {
  if (core.peer.revision.era === "legacy") return { timeMs: longestMs, isPrivate: true };
  const { ttlMs, cacheScope, resultType = "complete" } = result;
  const isFresh = typeof ttlMs === "number" && ttlMs > 0 && resultType === "complete";
  return { timeMs: isFresh ? Math.min(ttlMs, longestMs) : 0, isPrivate: cacheScope !== "public" };
}
