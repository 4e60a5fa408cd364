// One value that several components show. It has one owner, and components that use it are drawn again when it changes.
import { useEffect, useState } from "preact/hooks";

export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** The value, in a component. */
  use(): Value;
}

/** Creates a store. `onChange` is called with each new value before components are drawn. */
export function storeOf<Value>(initial: Value, onChange?: (value: Value) => void): Store<Value> {
  let current = initial;
  const users = new Set<(value: Value) => void>();
  return {
    get: () => current,
    set(value) {
      if (value === current) return;
      current = value;
      onChange?.(value);
      for (const user of users) user(value);
    },
    use() {
      const [shown, show] = useState(() => current);
      useEffect(() => {
        const user = (value: Value): void => show(() => value);
        users.add(user);
        user(current);
        return () => void users.delete(user);
      }, []);
      return shown;
    },
  };
}
