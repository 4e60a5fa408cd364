// Finds the definition of a tool for a call, and lists the tools if it is unknown.
import { inBackground } from "../../base/async/timers.ts";
import { clip } from "../../base/errors.ts";
import type { ClientCore, CoreRequestOptions } from "../calls/core.ts";
import { CallTimeout } from "../settings/errors.ts";
import type { KnownTool, KnownTools, MirroredArgument } from "./known-tools.ts";
import type { Lists } from "./lists.ts";
import { ignore } from "./kinds.ts";

/**
 * How long a listing for a definition may take. A call waits at most half of its own timeout, and then continues without the
 * definition.
 */
const longestMs = 30_000;
/** How long a tool that was not found counts as missing, so that the client does not list again for it. */
const missingForMs = 60_000;
/** How many names of missing tools the client remembers. */
const maxMissing = 1000;

/** The options of a call that its listing uses. */
export type ListingOptions = Pick<
  CoreRequestOptions,
  "signal" | "timeoutMs" | "maxTimeMs" | "headers" | "budget"
>;

/** Finds definitions. If a listing fails, the failure is reported and the call continues. */
export class Definitions {
  readonly #core: ClientCore;
  readonly #lists: Lists;
  readonly #known: KnownTools;
  /** The running listings, which all waiting calls share: one that may use the cache, and one that must not. */
  readonly #running: { cached?: Promise<void> | undefined; fresh?: Promise<void> | undefined } = {};
  /** The names that a listing did not have. */
  readonly #missing = new Map<string, { readonly at: number; readonly moment: number }>();

  constructor(core: ClientCore, lists: Lists, known: KnownTools) {
    this.#core = core;
    this.#lists = lists;
    this.#known = known;
  }

  /**
   * Returns the definition of a tool, and lists the tools if it is unknown. Undefined if the server does not list it, or the list
   * fails.
   */
  find(name: string, options?: ListingOptions): KnownTool | undefined | Promise<KnownTool | undefined> {
    const known = this.#known.find(name);
    return known !== undefined || this.#isMissing(name) ? known : this.#load(name, "cached", options);
  }

  /** The arguments of a tool that calls repeat as headers, if this client or an earlier one knows it. */
  headersOf(name: string): readonly MirroredArgument[] | undefined {
    return this.#known.headersOf(name);
  }

  /** The definition, if it is already known. */
  known(name: string): KnownTool | undefined {
    return this.#known.find(name);
  }

  /** The names of all tools that are known. */
  get names(): readonly string[] {
    return this.#known.names;
  }

  /** Requests the current definition from the server. */
  refresh(name: string, options?: ListingOptions): Promise<KnownTool | undefined> {
    return this.#load(name, "fresh", options);
  }

  #isMissing(name: string): boolean {
    const missing = this.#missing.get(name);
    if (missing === undefined) return false;
    const age = performance.now() - missing.at;
    return missing.moment === this.#known.moment && age < missingForMs;
  }

  async #load(
    name: string,
    source: "cached" | "fresh",
    options: ListingOptions | undefined,
  ): Promise<KnownTool | undefined> {
    const { moment } = this.#known;
    await this.#wait(this.#listing(source, options), options);
    const known = this.#known.find(name);
    if (known !== undefined) this.#missing.delete(name);
    else {
      if (this.#missing.size >= maxMissing) this.#missing.clear();
      this.#missing.set(name, { at: performance.now(), moment });
    }
    return known;
  }

  /** A listing with its own headers may be for another user, so calls do not share it. */
  #listing(source: "cached" | "fresh", { headers, budget }: ListingOptions = {}): Promise<void> {
    const options = { fresh: source === "fresh", budget };
    if (headers !== undefined) return this.#list({ ...options, headers });
    return (this.#running[source] ??= this.#list(options).finally(
      () => void (this.#running[source] = undefined),
    ));
  }

  /** Never rejects. */
  async #list(options: CoreRequestOptions): Promise<void> {
    const end = new AbortController();
    const timeout = new CallTimeout("maxTimeMs", longestMs, "tools/list");
    const timer = inBackground(setTimeout(() => end.abort(timeout), longestMs));
    try {
      await this.#lists.learnTools({ ...options, signal: end.signal });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#core.closed.aborted)
        ignore(this.#core, `The definitions of tools cannot be listed: ${clip(reason)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for a listing for at most half of the time that its call has left. */
  #wait(listing: Promise<void>, options: ListingOptions | undefined): Promise<void> | undefined {
    const { signal, budget } = options ?? {};
    if (signal?.aborted) return undefined;
    const { timeoutMs, maxTimeMs } = this.#core.timesOf(options);
    const spentMs = budget === undefined ? 0 : performance.now() - budget.startedAt;
    const waitMs = Math.max(0, Math.min(longestMs, timeoutMs / 2, (maxTimeMs - spentMs) / 2));
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      signal?.addEventListener("abort", end);
      void listing.then(end);
    });
  }
}
