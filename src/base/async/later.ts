// Code that is loaded when it is first used, so that features which few need cost the others nothing.
import { HalyardError } from "../errors.ts";

/** A value that is loaded once, even if several callers wait for it. */
export interface Later<T> {
  /** Undefined until `get` has resolved. */
  readonly loaded: T | undefined;
  /** After a failure, the next call tries again. */
  get(): Promise<T>;
}

/** Returns a lazy value: what `make` returns for the module that `load` imports. */
export function later<Module, T>(
  load: () => Promise<Module>,
  make: (module: Module) => T | Promise<T>,
): Later<T> {
  let loading: Promise<T> | undefined;
  const begin = async (): Promise<T> => {
    const module = await load().catch((cause: unknown) => {
      throw new HalyardError("CANNOT_LOAD", `Could not load a part of Halyard: ${String(cause)}`, { cause });
    });
    return (it.loaded = await make(module));
  };
  const again = (): void => void (loading = undefined);
  const it: { loaded: T | undefined; get(): Promise<T> } = {
    loaded: undefined,
    get() {
      if (loading === undefined) {
        loading = begin();
        loading.catch(again);
      }
      return loading;
    },
  };
  return it;
}
