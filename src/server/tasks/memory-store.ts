// Stores tasks in the memory of one process, as JSON text like a remote store.
import { sizeOf, type TaskLimits, TaskRoom } from "./room.ts";
import {
  hasEnded,
  isAfter,
  noRoom,
  type TaskChange,
  type TaskPosition,
  type TaskQuery,
  type TaskRecord,
  type TaskStore,
} from "./store.ts";

/** A task as text, with the fields that searches use, so that they parse no other task. */
interface Kept extends TaskPosition {
  readonly owner: string;
  readonly session: string | undefined;
  text: string;
}

export class MemoryTaskStore implements TaskStore {
  readonly #tasks = new Map<string, Kept>();
  readonly #room: TaskRoom;

  constructor(limits: TaskLimits) {
    this.#room = new TaskRoom(limits, (id) => this.#tasks.delete(id));
  }

  async create(task: TaskRecord, caller: string): Promise<boolean> {
    const { id, owner, session, createdAt, ttlMs } = task;
    const text = JSON.stringify(task);
    const endsAt = performance.now() + ttlMs;
    if (!this.#room.take({ id, owner, caller, size: sizeOf(text), endsAt })) return false;
    this.#tasks.set(id, { id, owner, session, createdAt, text });
    return true;
  }

  async read(owner: string, id: string): Promise<TaskRecord | undefined> {
    const kept = this.#find(owner, id);
    return kept && parse(kept);
  }

  async change(owner: string, id: string, change: TaskChange): Promise<TaskRecord | undefined> {
    const kept = this.#find(owner, id);
    const before = kept && parse(kept);
    if (!kept || !before || hasEnded(before)) return undefined;
    const text = JSON.stringify({ ...before, ...change });
    if (!this.#room.resize(id, sizeOf(text))) throw noRoom();
    kept.text = text;
    return parse(kept);
  }

  async list(owner: string, { session, after, limit }: TaskQuery): Promise<readonly TaskRecord[]> {
    const found: Kept[] = [];
    for (const id of this.#tasks.keys()) {
      const kept = this.#find(owner, id);
      if (!kept || (session !== undefined && kept.session !== session)) continue;
      if (!after || isAfter(kept, after)) found.push(kept);
    }
    return found
      .toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
      .slice(0, limit)
      .map(parse);
  }

  #find(owner: string, id: string): Kept | undefined {
    const kept = this.#tasks.get(id);
    return kept?.owner === owner && this.#room.find(id) ? kept : undefined;
  }
}

function parse({ text }: Kept): TaskRecord {
  return JSON.parse(text) as TaskRecord;
}
