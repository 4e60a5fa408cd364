// Types and a base class for objects that close at the end of an `await using` block.

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
