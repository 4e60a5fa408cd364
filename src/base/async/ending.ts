// The end of a long-lived object. Its signal and error are created on demand, because an AbortSignal and an error cost more than
// a request.

export class Ending {
  readonly #make: () => Error;
  #reason: Error | undefined;
  #controller: AbortController | undefined;
  #isOver = false;

  /** `make` creates the reason. */
  constructor(make: () => Error) {
    this.#make = make;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get reason(): Error {
    return (this.#reason ??= this.#make());
  }

  /** Aborted with the reason at the end. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isOver) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller?.abort(this.reason);
  }

  throwIfOver(): void {
    if (this.#isOver) throw this.reason;
  }
}
