// The options of rate limits: what each is, its kind and its default.
import { ConfigurationError } from "../../base/errors.ts";
import { withDefaults } from "../../base/options.ts";
import { either, func, type Known, numberFrom, off, options as optionsOf, preset } from "../../base/kinds.ts";

/** The limits of one caller. */
export interface CallerLimits {
  /**
   * Requests per minute; a batch counts as its messages. Past it, the server responds with 429, with the seconds until the
   * next request in `Retry-After`. @default {60000}
   */
  readonly perMinute: number;
  /**
   * Requests that it may send at once after a pause; with another `perMinute`, a tenth of it and at least 20. Past it, the
   * server responds in the same way. @default {6000}
   */
  readonly burst: number;
  /**
   * Requests that may run at the same time. Open GET and listen streams have limits of their own. Past it, the server responds
   * with 429 and `Retry-After: 1`. @default {1000}
   */
  readonly concurrent: number;
}

/** Rate limits; all are optional, and `Infinity` means no limit. */
export interface RateLimitOptions {
  /** The limits of each principal. @default {`defaultCallerLimits` where there is `auth`} */
  readonly perPrincipal?: Partial<CallerLimits> | false | undefined;
  /**
   * The limits of each address, checked before authentication. IPv6 addresses with the same first 64 bits count as one, and so do
   * all clients whose address is unknown. @default {`defaultCallerLimits` with `trustProxy`, else no limit}
   */
  readonly perAddress?: Partial<CallerLimits> | false | undefined;
  /** The clock in milliseconds, for tests. @default {performance.now} */
  readonly now?: (() => number) | undefined;
}

const atLeastOne = numberFrom(1, Number.POSITIVE_INFINITY, "a number, at least 1");

const knownCallerLimits: Known<Partial<CallerLimits>, CallerLimits> = {
  perMinute: preset(numberFrom(Number.MIN_VALUE, Number.POSITIVE_INFINITY, "a number, more than 0"), 60_000),
  burst: preset(atLeastOne, 6000),
  concurrent: preset(atLeastOne, 1000),
};

/**
 * The limits of a caller that {@link RateLimitOptions} does not set.
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
export const defaultCallerLimits: CallerLimits = withDefaults({}, knownCallerLimits);

const callerLimits = either(off, optionsOf(knownCallerLimits));

export const knownRateLimits: Known<RateLimitOptions> = {
  perPrincipal: callerLimits,
  perAddress: callerLimits,
  now: func,
};

/** The limits, completed with their defaults. */
export interface RateLimitSettings {
  readonly perPrincipal: CallerLimits | undefined;
  readonly perAddress: CallerLimits | undefined;
  readonly now: () => number;
}

/** The least default burst, since a client sends several requests at once when it connects. */
const leastBurst = 20;

/** Which callers the endpoint can tell apart. */
interface KnownCallers {
  readonly principals: boolean;
  /** Whether addresses identify clients, and not one proxy in front of all of them. */
  readonly addresses: boolean;
}

/** Returns the limits, or undefined if there are none. */
export function resolveRateLimits(
  option: RateLimitOptions | false | undefined,
  known: KnownCallers,
): RateLimitSettings | undefined {
  if (option === false) return undefined;
  const given = option ?? {};
  if (given.perPrincipal && !known.principals) {
    const problem = "needs auth, which identifies principals: pass auth, or set perAddress instead";
    const where = { subject: "HTTP", field: "rateLimit.perPrincipal" };
    throw new ConfigurationError("INVALID_OPTION", where, problem);
  }
  const perPrincipal = resolveLimits(given.perPrincipal, known.principals);
  const perAddress = resolveLimits(given.perAddress, known.addresses);
  if (perPrincipal === undefined && perAddress === undefined) return undefined;
  return { perPrincipal, perAddress, now: given.now ?? (() => performance.now()) };
}

function resolveLimits(
  given: Partial<CallerLimits> | false | undefined,
  byDefault: boolean,
): CallerLimits | undefined {
  if (given === false) return undefined;
  if (given === undefined) return byDefault ? defaultCallerLimits : undefined;
  const limits = withDefaults(given, knownCallerLimits);
  return { ...limits, burst: given.burst ?? Math.max(limits.perMinute / 10, leastBurst) };
}
