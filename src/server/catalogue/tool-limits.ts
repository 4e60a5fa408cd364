// How long a tool may take and how often it may run at once. A tool that sets neither keeps the handler it was given.
import { ConfigurationError, ToolError } from "../../errors.ts";
import type { Load } from "../../limits/loads.ts";
import type { Known } from "../../options.ts";
import type { CheckedHandler } from "./definition.ts";
import { inBackground, longestTimerMs } from "../timers.ts";
import type { Logger } from "../logger.ts";
import { isThenable } from "../thenable.ts";

/** What a tool may take of the server; a tool that sets neither is not limited. */
export interface ToolLimits {
  /**
   * Milliseconds that the handler may take, the time in which it waits for an answer of the client included. Past it
   * `ctx.signal` aborts, and the model is told. @default {any time}
   */
  readonly timeoutMs?: number;
  /**
   * How many calls of this tool may run at once, whoever makes them. One more is not queued: the model is told to try
   * again. A handler that goes on after its time is up counts until it has ended. @default {any number}
   */
  readonly maxConcurrent?: number;
}

export const toolLimitFields: Known<ToolLimits> = { timeoutMs: true, maxConcurrent: true };

/** What a call is to its limits. */
interface Limited {
  readonly core: { readonly settings: { readonly logger: Logger } };
  readonly cancelled: boolean;
  /** Whether its questions have ended the run of the handler; what it does once may still be under way. */
  readonly hasAsked: boolean;
  readonly conversation: { readonly onces: { idle(): Promise<void> } };
  readonly exchange: { readonly load?: Load | undefined };
  abort(reason: DOMException): void;
}

/** The handler within the limits of its tool. Throws for a limit that cannot be kept. */
export function withinLimits(name: string, limits: ToolLimits, handler: CheckedHandler): CheckedHandler {
  const { timeoutMs, maxConcurrent } = limits;
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= longestTimerMs)) {
    fail(name, "timeoutMs", `must be more than 0 and at most ${longestTimerMs}`);
  }
  if (maxConcurrent !== undefined && !(Number.isInteger(maxConcurrent) && maxConcurrent > 0)) {
    fail(name, "maxConcurrent", "must be a whole number of at least 1");
  }
  const counted = maxConcurrent === undefined ? handler : atMost(name, maxConcurrent, handler);
  return timeoutMs === undefined ? counted : inTime(name, timeoutMs, counted);
}

function fail(name: string, field: keyof ToolLimits, problem: string): never {
  throw new ConfigurationError("INVALID_DEFINITION", { subject: `tool "${name}"`, field }, problem);
}

/** Refuses instead of queueing: a queue would hold the client's connection, and need a limit and a time of its own. */
function atMost(name: string, maxConcurrent: number, handler: CheckedHandler): CheckedHandler {
  let running = 0;
  const leave = (): void => void running--;
  return (args, ctx) => {
    if (running >= maxConcurrent) {
      throw new ToolError(
        `Tool ${name} is busy: it runs ${maxConcurrent} at a time, and as many are running. Try again in a moment`,
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

function inTime(name: string, timeoutMs: number, handler: CheckedHandler): CheckedHandler {
  return (args, ctx) => {
    const returned = handler(args, ctx);
    return isThenable(returned) ? raceTime(name, timeoutMs, returned, ctx as Limited) : returned;
  };
}

/** The answer, or the time; a handler that does not heed its signal goes on, and nobody hears of it any more. */
function raceTime(
  name: string,
  timeoutMs: number,
  pending: PromiseLike<unknown>,
  call: Limited,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const problem = `Tool ${name} did not finish within its limit of ${timeoutMs} ms`;
      if (!call.cancelled) call.core.settings.logger.warn(problem);
      const release = call.exchange.load?.hold();
      if (release !== undefined) pending.then(release, release);
      // First, so that what the handler throws because of the signal does not take its place.
      reject(new ToolError(problem));
      call.abort(new DOMException(problem, "TimeoutError"));
    };
    const timer = inBackground(setTimeout(giveUp, timeoutMs));
    const inTimeAfterAll = (): void => clearTimeout(timer);
    const settle = (finish: (value: unknown) => void) => (value: unknown) => {
      if (call.hasAsked) void call.conversation.onces.idle().then(inTimeAfterAll);
      else inTimeAfterAll();
      finish(value);
    };
    pending.then(settle(resolve), settle(reject));
  });
}
