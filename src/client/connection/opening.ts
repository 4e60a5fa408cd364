// The opening of a channel: how long it may take, and who ends it early. Its clock stands still while a person signs in.
import { CallTimeout } from "../settings/errors.ts";

export interface Opening {
  /** Aborted when it must end. */
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops the clock, or lets it run anew. */
  hold(isHeld: boolean): void;
  /** It has its outcome. */
  finish(): void;
}

/** `what` is what errors call it; `caller` ends it too. */
export function beginOpening(timeMs: number, what: string, caller: AbortSignal | undefined): Opening {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason: unknown): void => controller.abort(reason);
  const stop = (): void => abort(caller?.reason);
  const tooLate = (): void => abort(new CallTimeout("connectTimeoutMs", timeMs, what));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hold = (isHeld: boolean): void => {
    if (isHeld) timer = void clearTimeout(timer);
    else timer ??= setTimeout(tooLate, timeMs);
  };
  const finish = (): void => {
    hold(true);
    caller?.removeEventListener("abort", stop);
  };
  hold(false);
  if (caller?.aborted) stop();
  caller?.addEventListener("abort", stop);
  return { signal, abort, hold, finish };
}
