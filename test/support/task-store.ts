// Task stores that do one thing differently.
import { MemoryTaskStore, type TaskStore } from "halyard";

export function overriddenStore(store: TaskStore, changes: Partial<TaskStore>): TaskStore {
  return {
    create: (task) => store.create(task),
    read: (owner, id) => store.read(owner, id),
    change: (owner, id, change) => store.change(owner, id, change),
    list: (owner, query) => store.list(owner, query),
    ...changes,
  };
}

/** A store in memory that does something differently. */
export function storeThat(differs: (store: TaskStore) => Partial<TaskStore>): TaskStore {
  const store = new MemoryTaskStore();
  return overriddenStore(store, differs(store));
}
