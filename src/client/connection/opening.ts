// The opening of a channel, with its timeout and its cancellation. The timeout stops while a person signs in.
import { CallTimeout } from "../settings/errors.ts";

export interface Opening {
  /** Aborted when the opening must end. */
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops the timeout, or starts it again. */
  hold(isHeld: boolean): void;
  /** Stops the timer, because the opening has its outcome. */
  finish(): void;
}

/** The error for an opening that took too long. `written`: what the server wrote instead of messages. */
export function connectTimeout(timeMs: number, address: string, written = ""): CallTimeout {
  return new CallTimeout("connectTimeoutMs", timeMs, `Connecting to ${address}`, { written });
}

/** `address` is the target. `caller` also ends the opening. */
export function beginOpening(timeMs: number, address: string, caller: AbortSignal | undefined): Opening {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason: unknown): void => controller.abort(reason);
  const stop = (): void => abort(caller?.reason);
  const tooLate = (): void => abort(connectTimeout(timeMs, address));
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
