// Frozen copies of values of a call, so that nothing that a hook writes into them changes the call.

/** Returns a function that copies the value when it is first called, and returns the same copy from then on. */
export function copyLater<Value>(value: Value): () => Value {
  let copy: { readonly value: Value } | undefined;
  return () => (copy ??= { value: frozenCopy(value) as Value }).value;
}

/** A copy of what JSON would write of the value, frozen at every depth. */
function frozenCopy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if ("toJSON" in value && typeof value.toJSON === "function") return frozenCopy(value.toJSON());
  const members = Object.entries(value).map(([name, member]) => [name, frozenCopy(member)] as const);
  return Object.freeze(Object.fromEntries(members));
}
