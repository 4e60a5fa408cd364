// How often one caller may ask: the option, its defaults, and its mistakes.
import { ConfigurationError } from "../../errors.ts";
import type { Known } from "../../options.ts";

/** What one caller may do. */
export interface CallerLimits {
  /** Requests that come in for it each minute. */
  readonly perMinute: number;
  /** Requests that it may make at once after a pause. @default {a tenth of `perMinute`, and at least 20} */
  readonly burst: number;
  /** Requests that may be answered at the same time. Open GET and listen streams are counted elsewhere. */
  readonly concurrent: number;
}

/** How often callers may ask; everything has a default, and `Infinity` is no limit. */
export interface RateLimitOptions {
  /** Of each principal. @default {`defaultCallerLimits` where there is `auth`} */
  readonly perPrincipal?: Partial<CallerLimits> | false;
  /**
   * Of each address, of IPv6 the first 64 bits of it, before it is asked who is calling. Where the address of a peer is
   * not known, all such peers count as one. @default {`defaultCallerLimits` with `trustProxy`, else no limit}
   */
  readonly perAddress?: Partial<CallerLimits> | false;
  /** The clock, in milliseconds; a test may bring its own. @default {performance.now} */
  readonly now?: () => number;
}

/** The limits that are in force. */
export interface RateLimitSettings {
  readonly perPrincipal: CallerLimits | undefined;
  readonly perAddress: CallerLimits | undefined;
  readonly now: () => number;
}

/**
 * What one principal may do, unless {@link RateLimitOptions} says otherwise.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { defaultCallerLimits, nodeHandler } from "halyard/node";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const handler = nodeHandler(server, {
 *   rateLimit: { perAddress: { perMinute: defaultCallerLimits.perMinute / 100, concurrent: 20 } },
 * });
 * await handler.close();
 * ```
 */
export const defaultCallerLimits: CallerLimits = { perMinute: 60_000, burst: 6000, concurrent: 1000 };

export const knownRateLimits: Known<RateLimitOptions> = {
  perPrincipal: defaultCallerLimits,
  perAddress: defaultCallerLimits,
  now: true,
};

/** A client connects with several requests at once, however few it may make in a minute. */
const leastBurst = 20;

/** What is known of callers without asking the peer itself. */
export interface KnownCallers {
  readonly principals: boolean;
  /** Whether addresses are those of the clients, and not of a proxy that all of them come through. */
  readonly addresses: boolean;
}

/** The limits in force; undefined when there are none, so that nothing is counted. */
export function resolveRateLimits(
  option: RateLimitOptions | false | undefined,
  known: KnownCallers,
): RateLimitSettings | undefined {
  if (option === false) return undefined;
  const given = option ?? {};
  if (given.perPrincipal && !known.principals) {
    fail("perPrincipal", "needs auth, which says who is calling; without it, limit perAddress");
  }
  const perPrincipal = resolveLimits("perPrincipal", given.perPrincipal, known.principals);
  const perAddress = resolveLimits("perAddress", given.perAddress, known.addresses);
  if (perPrincipal === undefined && perAddress === undefined) return undefined;
  return { perPrincipal, perAddress, now: given.now ?? (() => performance.now()) };
}

function resolveLimits(
  kind: "perPrincipal" | "perAddress",
  given: Partial<CallerLimits> | false | undefined,
  byDefault: boolean,
): CallerLimits | undefined {
  if (given === false) return undefined;
  if (given === undefined) return byDefault ? defaultCallerLimits : undefined;
  for (const [name, limit] of Object.entries(given)) {
    const isLimit = name === "perMinute" ? limit > 0 : limit >= 1;
    if (!isLimit)
      fail(`${kind}.${name}`, name === "perMinute" ? "must be more than 0" : "must be at least 1");
  }
  const { perMinute = defaultCallerLimits.perMinute, concurrent = defaultCallerLimits.concurrent } = given;
  return { perMinute, burst: given.burst ?? Math.max(perMinute / 10, leastBurst), concurrent };
}

function fail(field: string, problem: string): never {
  const where = { subject: "HTTP", field: `rateLimit.${field}` };
  throw new ConfigurationError("INVALID_OPTION", where, problem);
}
