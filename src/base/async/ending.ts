// The end of a long-lived object. Its signal and error are created on demand, because an AbortSignal and an error cost more than
// a request. A base class closes objects at the end of an `await using` block.

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

/** `[Symbol.asyncDispose]()`, unless the `lib` of a user lacks it: there a declaration that names it would not compile. */
export type AsyncDisposal = SymbolConstructor extends { readonly asyncDispose: infer Name extends symbol }
  ? { readonly [Method in Name]: () => Promise<void> }
  : object;

abstract class Closing {
  abstract close(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The base of classes with `close()`. Its type only has what every `lib` supports. */
export const AsyncClosing: abstract new () => AsyncDisposal = Closing;
