// The contract of task stores, as checks that any test runner can run.
import type { TaskRecord, TaskStatus, TaskStore } from "../server/tasks/store.ts";
import { expectSame, pause } from "./expect-same.ts";
import { contractOf, type StoreCheck } from "./store-check.ts";

const long = 60_000;
const short = 40;
const later = "2026-01-02T03:04:06.000Z";
const ended: readonly TaskStatus[] = ["completed", "failed", "cancelled"];

function recordOf(id: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const now = new Date().toISOString();
  return {
    id,
    owner: "alice",
    tool: "work",
    form: "extension",
    status: "working",
    createdAt: now,
    lastUpdatedAt: now,
    ttlMs: long,
    pollIntervalMs: 1000,
    ...more,
  };
}

/** Makes records whose creation times count from one moment, however long the check takes. */
function agedRecords(): (id: string, afterMs: number, more?: Partial<TaskRecord>) => TaskRecord {
  const start = Date.now();
  return (id, afterMs, more) => recordOf(id, { createdAt: new Date(start + afterMs).toISOString(), ...more });
}

/**
 * The checks that a {@link TaskStore} must pass. Run them against your own store.
 *
 * @example
 * ```ts
 * import { MemoryTaskStore } from "halyard";
 * import { taskStoreContract } from "halyard/testing";
 *
 * for (const { title, run } of taskStoreContract()) {
 *   await run(() => new MemoryTaskStore());
 *   console.log(title);
 * }
 * ```
 */
export function taskStoreContract(): readonly StoreCheck<TaskStore>[] {
  return contractOf(checks);
}

const checks: Readonly<Record<string, (store: TaskStore) => Promise<void>>> = {
  async "read returns a task immediately after create"(store) {
    const record = recordOf("a", {
      session: "s",
      scopes: ["notes:write", "notes:read"],
      form: "core",
      statusMessage: 'ünï\u2028 "quoted"',
      inputRequests: { name: { method: "elicitation/create", params: { message: "Name?" } } },
    });
    expectSame(await store.create(record), true);
    expectSame(await store.read("alice", "a"), record);
  },

  async "an unknown task does not exist"(store) {
    await store.create(recordOf("a"));
    for (const id of ["b", "", "__proto__", "constructor"])
      expectSame(await store.read("alice", id), undefined);
    expectSame(await store.change("alice", "b", { lastUpdatedAt: later }), undefined);
    expectSame(await store.list("nobody", { limit: 10 }), []);
  },

  async "a task of another owner does not exist"(store) {
    const record = recordOf("a");
    await store.create(record);
    for (const owner of ["bob", "", "alice "]) {
      expectSame(await store.read(owner, "a"), undefined);
      expectSame(await store.change(owner, "a", { status: "cancelled", lastUpdatedAt: later }), undefined);
      expectSame(await store.list(owner, { limit: 10 }), []);
    }
    expectSame(await store.read("alice", "a"), record);
  },

  async "change returns the whole changed task, and the next read returns the same"(store) {
    const record = recordOf("a", { statusMessage: "before", scopes: ["notes:write"] });
    await store.create(record);
    const change = { status: "input_required", statusMessage: "after", lastUpdatedAt: later } as const;
    const changed = await store.change("alice", "a", change);
    expectSame(changed, { ...record, ...change });
    expectSame(await store.read("alice", "a"), changed);
  },

  async "undefined in a change removes a member, and members that it does not name stay"(store) {
    const record = recordOf("a", { statusMessage: "gone", inputRequests: { q: { method: "roots/list" } } });
    await store.create(record);
    await store.change("alice", "a", { lastUpdatedAt: later });
    expectSame(await store.read("alice", "a"), { ...record, lastUpdatedAt: later });
    await store.change("alice", "a", { statusMessage: undefined, lastUpdatedAt: later });
    const { statusMessage: _, ...rest } = record;
    expectSame(await store.read("alice", "a"), { ...rest, lastUpdatedAt: later });
  },

  async "a task that has ended does not change"(store) {
    for (const status of ended) {
      await store.create(recordOf(status));
      const end = await store.change("alice", status, { status, lastUpdatedAt: later });
      for (const next of ["working", ...ended] as const) {
        const again = { status: next, statusMessage: "again", lastUpdatedAt: later };
        expectSame(await store.change("alice", status, again), undefined);
      }
      expectSame(await store.read("alice", status), end);
    }
  },

  async "one of several concurrent changes that end a task succeeds"(store) {
    await store.create(recordOf("a"));
    const changes = await Promise.all(
      [...ended, ...ended].map((status) => store.change("alice", "a", { status, lastUpdatedAt: later })),
    );
    const made = changes.filter((task) => task !== undefined);
    expectSame(made.length, 1);
    expectSame(await store.read("alice", "a"), made[0]);
  },

  async "create, change, read and list copy the task"(store) {
    const result = { content: [{ type: "text", text: "kept" }] };
    await store.create(recordOf("a"));
    const changed = await store.change("alice", "a", { status: "completed", result, lastUpdatedAt: later });
    result.content.push({ type: "text", text: "added" });
    for (const task of [
      changed,
      await store.read("alice", "a"),
      ...(await store.list("alice", { limit: 1 })),
    ]) {
      Object.assign(task?.result ?? {}, { content: [] });
    }
    expectSame((await store.read("alice", "a"))?.result, { content: [{ type: "text", text: "kept" }] });
  },

  async "a task expires after its ttlMs, even if it changes, and others stay"(store) {
    await store.create(recordOf("kept"));
    await store.create(recordOf("old", { ttlMs: short }));
    await store.change("alice", "old", { status: "completed", lastUpdatedAt: new Date().toISOString() });
    await pause(short * 2);
    expectSame(await store.read("alice", "old"), undefined);
    expectSame(await store.change("alice", "old", { lastUpdatedAt: later }), undefined);
    expectSame(
      (await store.list("alice", { limit: 10 })).map(({ id }) => id),
      ["kept"],
    );
  },

  async "list returns the oldest tasks first, and sorts tasks of the same time by id"(store) {
    const agedRecord = agedRecords();
    for (const id of ["c", "a", "b"]) await store.create(agedRecord(id, 5));
    await store.create(agedRecord("first", 0));
    await store.create(agedRecord("last", 10, { scopes: ["notes:write"] }));
    const listed = await store.list("alice", { limit: 10 });
    expectSame(listed.at(-1)?.scopes, ["notes:write"]);
    expectSame(
      listed.map(({ id }) => id),
      ["first", "a", "b", "c", "last"],
    );
    expectSame(listed[0], await store.read("alice", "first"));
  },

  async "the pages of list contain every task once, even if tasks end between them"(store) {
    const agedRecord = agedRecords();
    const ids = Array.from({ length: 7 }, (_, index) => `task-${index}`);
    for (const [index, id] of ids.entries()) await store.create(agedRecord(id, index >> 1));
    const seen: string[] = [];
    let after: TaskRecord | undefined;
    for (let page = 0; page < 4; page++) {
      const found: readonly TaskRecord[] = await store.list("alice", { after, limit: 2 });
      seen.push(...found.map(({ id }) => id));
      after = found.at(-1);
      if (after !== undefined)
        await store.change("alice", after.id, { status: "failed", lastUpdatedAt: later });
    }
    expectSame(seen, ids);
    expectSame(await store.list("alice", { after, limit: 2 }), []);
  },

  async "list with a session returns only its tasks"(store) {
    const agedRecord = agedRecords();
    await store.create(agedRecord("none", 0));
    await store.create(agedRecord("one", 1, { session: "1" }));
    await store.create(agedRecord("two", 2, { session: "2" }));
    const idsOf = async (session?: string): Promise<string[]> =>
      (await store.list("alice", { session, limit: 10 })).map(({ id }) => id);
    expectSame(await idsOf("2"), ["two"]);
    expectSame(await idsOf("3"), []);
    expectSame(await idsOf(), ["none", "one", "two"]);
  },
};
