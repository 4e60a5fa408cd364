// Values: the newest message of a subject, replaced only if it is still the one that was read.
import type { CountedKind, StoredValue, ValueKey, ValueKind } from "../engine/engine.ts";
import { ignoreRejection } from "../../base/async/promises.ts";
import type { EngineClock } from "./clock.ts";
import { apiErrors, type JetStream, type StoredMessage } from "./jetstream.ts";
import { type NatsNames, tokenOf } from "./names.ts";
import { NatsStream } from "./stream.ts";
import { inBackground, longestTimerMs } from "../../base/async/timers.ts";

/** How many operations run at the same time. */
const atOnce = 64;

/** Attempts to remove a value that other nodes replace meanwhile. */
const maxRemovals = 20;

/** The stream and subject of a value. */
interface Place {
  readonly kind: ValueKind;
  readonly stream: NatsStream;
  readonly subject: string;
}

/** One stream for each kind, since the age at which a server removes messages belongs to a stream. */
const kinds: Readonly<Record<ValueKind, true>> = {
  session: true,
  owner: true,
  task: true,
  "task-list": true,
  mark: true,
  node: true,
  key: true,
};

export class Values {
  readonly #jetstream: JetStream;
  readonly #clock: EngineClock;
  readonly #names: NatsNames;
  readonly #streams: ReadonlyMap<ValueKind, NatsStream>;
  readonly #overdue: Readonly<Record<CountedKind, Overdue>>;

  constructor(jetstream: JetStream, clock: EngineClock, names: NatsNames) {
    this.#jetstream = jetstream;
    this.#clock = clock;
    this.#names = names;
    const streamOf = (kind: ValueKind): NatsStream =>
      new NatsStream(jetstream, {
        name: names.stream(kind),
        subjects: [names.subject("v", kind, "*")],
        max_msgs_per_subject: 1,
      });
    this.#streams = new Map((Object.keys(kinds) as ValueKind[]).map((kind) => [kind, streamOf(kind)]));
    const overdueOf = (kind: CountedKind): Overdue =>
      new Overdue((sequences) => void ignoreRejection(this.#deleteAll(this.#stream(kind), sequences)));
    this.#overdue = { session: overdueOf("session"), task: overdueOf("task") };
  }

  get streams(): Iterable<NatsStream> {
    return this.#streams.values();
  }

  async get(key: ValueKey): Promise<StoredValue | undefined> {
    const place = await this.#place(key);
    const found = await this.#read(place);
    return found && { text: found.text, version: versionOf(place, found.sequence) };
  }

  async create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    const place = await this.#place(key);
    const created = await this.#write(place, text, ttlMs, 0);
    if (created !== undefined) return created;
    // There is another value, or an expired one that the server has not removed yet.
    const found = await this.#find(place);
    if (found !== undefined && !(await this.#isOver(found))) return undefined;
    return this.#write(place, text, ttlMs, found?.sequence ?? 0);
  }

  async replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    const place = await this.#place(key);
    // The server may still have an expired value, because others of its kind live longer.
    const found = await this.#read(place);
    if (found === undefined || versionOf(place, found.sequence) !== version) return undefined;
    return this.#write(place, text, ttlMs, found.sequence);
  }

  /** Writes the values again. If a value is replaced meanwhile, that restarts its expiry. */
  async touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    const touchOne = async (key: ValueKey): Promise<void> => {
      const place = await this.#place(key);
      const found = await this.#read(place);
      if (found !== undefined) await this.#write(place, found.text, ttlMs, found.sequence);
    };
    for (let from = 0; from < keys.length; from += atOnce) {
      await Promise.all(keys.slice(from, from + atOnce).map(touchOne));
    }
  }

  /** Deletes the message by its number: a purge of the subject would take longer the more values there are. */
  async remove(key: ValueKey): Promise<void> {
    const place = await this.#place(key);
    for (let attempt = 0; attempt < maxRemovals; attempt++) {
      const found = await this.#find(place);
      if (found === undefined || (await this.#delete(place.stream, found.sequence))) return;
    }
    throw new Error(`JetStream did not delete ${place.subject} in ${maxRemovals} attempts`);
  }

  async count(kind: CountedKind): Promise<number> {
    return this.#stream(kind).count();
  }

  /** Forgets the values that this node would remove, because the server may assign their numbers again. */
  forget(): void {
    for (const overdue of Object.values(this.#overdue)) overdue.clear();
  }

  async #deleteAll(stream: NatsStream, sequences: readonly number[]): Promise<void> {
    for (let from = 0; from < sequences.length; from += atOnce) {
      const some = sequences.slice(from, from + atOnce);
      await Promise.all(some.map((sequence) => this.#delete(stream, sequence)));
    }
  }

  /** Whether the message was still there. */
  async #delete({ name }: NatsStream, sequence: number): Promise<boolean> {
    const body = { seq: sequence, no_erase: true };
    const expected = [apiErrors.messageNotDeleted];
    return (await this.#jetstream.call(`STREAM.MSG.DELETE.${name}`, body, expected)).error === undefined;
  }

  async #place({ kind, tag }: ValueKey): Promise<Place> {
    return { kind, stream: this.#stream(kind), subject: this.#names.subject("v", kind, await tokenOf(tag)) };
  }

  #stream(kind: ValueKind): NatsStream {
    const stream = this.#streams.get(kind);
    if (stream === undefined) throw new Error(`Unknown kind of value: ${kind}`);
    return stream;
  }

  #find({ stream, subject }: Place): Promise<StoredMessage | undefined> {
    return this.#jetstream.find(stream.name, { last_by_subj: subject });
  }

  async #read(place: Place): Promise<StoredMessage | undefined> {
    const found = await this.#find(place);
    return found !== undefined && (await this.#isOver(found)) ? undefined : found;
  }

  /** Stores the value if the newest message has this number, and returns its version. */
  async #write(
    place: Place,
    text: string,
    ttlMs: number | undefined,
    last: number,
  ): Promise<string | undefined> {
    await place.stream.keep(ttlMs);
    const sequence = await this.#jetstream.publish(place.subject, text, { ttlMs, last });
    if (sequence === undefined) return undefined;
    const { kind, stream } = place;
    if (ttlMs !== undefined && ttlMs < stream.maxAgeMs && Object.hasOwn(this.#overdue, kind)) {
      this.#overdue[kind as CountedKind].add(sequence, ttlMs);
    }
    return versionOf(place, sequence);
  }

  async #isOver({ ttlMs, storedAt }: StoredMessage): Promise<boolean> {
    return ttlMs !== undefined && this.#clock.hasPassed(storedAt + ttlMs);
  }
}

/** The server's numbers start again after it has lost a stream, so a version includes the epoch of the stream. */
function versionOf({ stream }: Place, sequence: number): string {
  return `${stream.epoch}.${sequence}`;
}

/** How many values are remembered. The others are counted until the server removes them. */
const maxRemembered = 10_000;

class Overdue {
  readonly #remove: (sequences: readonly number[]) => void;
  #values: { readonly sequence: number; readonly dueAt: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(remove: (sequences: readonly number[]) => void) {
    this.#remove = remove;
  }

  /** Remembers a value that has been stored. */
  add(sequence: number, ttlMs: number): void {
    if (this.#values.length >= maxRemembered) return;
    const dueAt = performance.now() + ttlMs;
    this.#values.push({ sequence, dueAt });
    this.#wakeAt(dueAt);
  }

  /** Forgets all. The server removes them later. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#values = [];
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  #wakeAt(dueAt: number): void {
    if (dueAt >= this.#wakesAt) return;
    this.#wakesAt = dueAt;
    clearTimeout(this.#timer);
    // Rounded up, because a timer may fire a little early.
    const waitMs = Math.min(Math.ceil(dueAt - performance.now()) + 1, longestTimerMs);
    this.#timer = inBackground(setTimeout(() => this.#wake(), waitMs));
  }

  #wake(): void {
    const now = performance.now();
    const due = this.#values.filter(({ dueAt }) => dueAt <= now);
    this.#values = this.#values.filter(({ dueAt }) => dueAt > now);
    this.#wakesAt = Number.POSITIVE_INFINITY;
    this.#wakeAt(this.#values.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY));
    if (due.length > 0) this.#remove(due.map(({ sequence }) => sequence));
  }
}
