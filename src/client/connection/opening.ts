// The opening of a channel: how long it may take, and who ends it early. Its clock stands still while a person signs in.
import { CallTimeout } from "../settings/errors.ts";

export class Opening {
  readonly #controller = new AbortController();
  readonly #timeMs: number;
  readonly #what: string;
  readonly #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `what` is what errors call it; `caller` ends it too. */
  constructor(timeMs: number, what: string, caller: AbortSignal | undefined) {
    this.#timeMs = timeMs;
    this.#what = what;
    this.#caller = caller;
    if (caller?.aborted) this.handleEvent();
    caller?.addEventListener("abort", this);
    this.hold(false);
  }

  /** Aborted when it must end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Stops the clock, or lets it run anew. */
  hold(isHeld: boolean): void {
    if (isHeld === (this.#timer === undefined)) return;
    clearTimeout(this.#timer);
    const tooLate = (): void => this.abort(new CallTimeout("connectTimeoutMs", this.#timeMs, this.#what));
    this.#timer = isHeld ? undefined : setTimeout(tooLate, this.#timeMs);
  }

  /** It has its outcome. */
  finish(): void {
    this.hold(true);
    this.#caller?.removeEventListener("abort", this);
  }

  /** The signal of the caller is aborted. */
  handleEvent(): void {
    this.abort(this.#caller?.reason);
  }
}
