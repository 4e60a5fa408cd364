// Limits how long a tool may take and how many calls may run at once. Without limits, the handler stays unwrapped.
import { ToolError } from "../../base/errors.ts";
import type { Load } from "../../base/limits/loads.ts";
import { count, type Known, milliseconds } from "../../base/kinds.ts";
import type { CheckedHandler } from "./definition.ts";
import { inBackground } from "../../base/async/timers.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { isThenable } from "../../base/async/promises.ts";

/** Limits of one tool. */
export interface ToolLimits {
  /**
   * How long the handler may take, in milliseconds, including the time that it waits for answers from the client. After it,
   * `ctx.signal` aborts, the model gets a result with `isError` that names the limit, and the log a warning. @default {any time}
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How many calls of this tool may run at once, for all callers together. A handler that runs past `timeoutMs` counts until it
   * ends. Past it, the model gets a result with `isError` that says to try again; the server queues nothing. @default {any number}
   */
  readonly maxConcurrent?: number | undefined;
}

export const toolLimitFields: Known<ToolLimits> = { timeoutMs: milliseconds, maxConcurrent: count };

/** The members of a call that the limits need. */
interface Limited {
  readonly cancelled: boolean;
  /** The work of `ctx.once` that still runs, if questions have ended this run of the handler. */
  unfinishedWork(): Promise<void> | undefined;
  readonly exchange: { readonly load?: Load | undefined };
  abort(reason: DOMException): void;
}

/** Wraps the handler in the limits of its tool. */
export function withinLimits(
  name: string,
  limits: ToolLimits,
  handler: CheckedHandler,
  logger: Logger,
): CheckedHandler {
  const { timeoutMs, maxConcurrent } = limits;
  const counted = maxConcurrent === undefined ? handler : atMost(name, maxConcurrent, handler);
  return timeoutMs === undefined ? counted : inTime({ name, timeoutMs, logger }, counted);
}

/** Rejects instead of queueing: a queue would hold the client's connection, and would need a limit and a timeout. */
function atMost(name: string, maxConcurrent: number, handler: CheckedHandler): CheckedHandler {
  let running = 0;
  const leave = (): void => void running--;
  return (args, ctx) => {
    if (running >= maxConcurrent) {
      throw new ToolError(
        `Tool ${name} is busy: at most ${maxConcurrent} of its calls run at once. Try again in a moment`,
      );
    }
    running++;
    let returned: unknown;
    try {
      returned = handler(args, ctx);
    } catch (error) {
      leave();
      throw error;
    }
    if (isThenable(returned)) returned.then(leave, leave);
    else leave();
    return returned;
  };
}

interface TimeLimit {
  readonly name: string;
  readonly timeoutMs: number;
  readonly logger: Logger;
}

function inTime(limit: TimeLimit, handler: CheckedHandler): CheckedHandler {
  return (args, ctx) => {
    const returned = handler(args, ctx);
    return isThenable(returned) ? raceTime(limit, returned, ctx as Limited) : returned;
  };
}

/** Settles with the handler or at the timeout. A handler that ignores its signal keeps running, and its result is dropped. */
function raceTime(
  { name, timeoutMs, logger }: TimeLimit,
  pending: PromiseLike<unknown>,
  call: Limited,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const problem = `Tool ${name} did not finish within its limit of ${timeoutMs} ms`;
      if (!call.cancelled) logger.warn(problem);
      const release = call.exchange.load?.hold();
      if (release) pending.then(release, release);
      // Reject before the abort, so that an error that the handler throws because of it does not replace this one.
      reject(new ToolError(problem));
      call.abort(new DOMException(problem, "TimeoutError"));
    };
    const timer = inBackground(setTimeout(giveUp, timeoutMs));
    const inTimeAfterAll = (): void => clearTimeout(timer);
    const settle = (finish: (value: unknown) => void) => (value: unknown) => {
      const unfinished = call.unfinishedWork();
      if (!unfinished) inTimeAfterAll();
      else void unfinished.then(inTimeAfterAll);
      finish(value);
    };
    pending.then(settle(resolve), settle(reject));
  });
}
