// The store behind tasks: its contract, and stores that break it.
import { MemoryTaskStore, type TaskRecord, type TaskStore } from "halyard";
import { taskStoreContract } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { overriddenStore } from "../../support/task-store.ts";

describe("MemoryTaskStore", () => {
  test.each(taskStoreContract())("$title", ({ run }) => run(() => new MemoryTaskStore()));
});

describe("taskStoreContract", () => {
  const broken: Record<string, (store: TaskStore) => Partial<TaskStore>> = {
    "tells strangers": (store) => ({ read: (_, id) => store.read("alice", id) }),
    "lets strangers cancel": (store) => ({ change: (_, id, change) => store.change("alice", id, change) }),
    "lists for strangers": (store) => ({ list: (_, query) => store.list("alice", query) }),
    "keeps tasks forever": (store) => ({ create: (task) => store.create({ ...task, ttlMs: 1e9 }) }),
    "answers before it has kept the task": (store) => ({
      create: async (task) => (setTimeout(() => void store.create(task), 5), true),
    }),
    "lists newest first": (store) => ({
      list: async (owner, query) => (await store.list(owner, query)).toReversed(),
    }),
    "begins each page anew": (store) => ({
      list: (owner, query) => store.list(owner, { ...query, after: undefined }),
    }),
    "ignores how many are wanted": (store) => ({
      list: (owner, query) => store.list(owner, { ...query, limit: 100 }),
    }),
    "ignores the session": (store) => ({
      list: (owner, query) => store.list(owner, { ...query, session: undefined }),
    }),
    "ignores what is to be taken away": (store) => ({
      change: (owner, id, change) =>
        store.change(owner, id, JSON.parse(JSON.stringify(change)) as typeof change),
    }),
    "forgets what a change does not name": (store) => ({
      change: (owner, id, change) => store.change(owner, id, { statusMessage: undefined, ...change }),
    }),
    "hands out its own objects": sharedObjects,
    "looks first and changes later": lookThenChange,
    "changes what has ended": (store) => sharedObjects(store, true),
  };

  test.each(Object.entries(broken))("finds a store that %s", async (_, change) => {
    const make = (): TaskStore => {
      const store = new MemoryTaskStore();
      return overriddenStore(store, change(store));
    };
    const outcomes = await Promise.allSettled(taskStoreContract().map(({ run }) => run(make)));
    expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
  });
});

function sharedObjects(store: TaskStore, changesEnded = false): Partial<TaskStore> {
  const tasks = new Map<string, TaskRecord>();
  const copy = (task: TaskRecord): TaskRecord => (changesEnded ? structuredClone(task) : task);
  return {
    create: async (task) => (tasks.set(task.id, copy(task)), store.create(task)),
    read: async (owner, id) => ((await store.read(owner, id)) ? tasks.get(id) : undefined),
    change: async (owner, id, change) => {
      const before = changesEnded ? await store.read(owner, id) : await store.change(owner, id, change);
      if (before === undefined) return undefined;
      const task = { ...(tasks.get(id) as TaskRecord), ...change } as TaskRecord;
      tasks.set(id, copy(task));
      return copy(task);
    },
  };
}

function lookThenChange(store: TaskStore): Partial<TaskStore> {
  const latest = new Map<string, TaskRecord>();
  return {
    create: (task) => (latest.set(task.id, task), store.create(task)),
    read: async (owner, id) => ((await store.read(owner, id)) ? latest.get(id) : undefined),
    change: async (owner, id, change) => {
      const before = (await store.read(owner, id)) && latest.get(id);
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (before === undefined || ["completed", "failed", "cancelled"].includes(before.status))
        return undefined;
      const task = JSON.parse(JSON.stringify({ ...before, ...change })) as TaskRecord;
      latest.set(id, task);
      return task;
    },
  };
}
