// Frozen copies of values of a call, so that nothing that a hook writes into them changes the call.

/** A value that is copied when it is first read; every read returns the same copy. */
export class LateCopy<Value> {
  readonly #original: Value;
  #copy: { readonly value: Value } | undefined;

  constructor(original: Value) {
    this.#original = original;
  }

  read(): Value {
    return (this.#copy ??= { value: frozenCopy(this.#original) as Value }).value;
  }
}

/** A copy of what JSON would write of the value, frozen at every depth. */
function frozenCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if ("toJSON" in value && typeof value.toJSON === "function") return frozenCopy(value.toJSON());
  const members = Object.entries(value).map(([name, member]) => [name, frozenCopy(member)] as const);
  return Object.freeze(Object.fromEntries(members));
}
