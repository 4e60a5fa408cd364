// How many sessions each caller has on all nodes, roughly. The engine has a tally of each caller with many; others cost it nothing.
import { ignoreRejection } from "../../base/async/promises.ts";
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { ValueKey } from "../../cluster/engine/engine.ts";
import { changeValue } from "../../cluster/engine/edits.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject } from "../../base/wire/message.ts";

/** Sessions by the period in which they were made or last kept, so that those that expire leave the tally by themselves. */
type Counts = Map<number, number>;

interface Tally {
  /** Counted by this node, but not yet added in the engine. */
  readonly pending: Counts;
  /** What the engine had when this node last read it. */
  shared: number;
  readAt: number;
  sharing: Promise<void> | undefined;
}

/** Periods in the time that a record is kept. */
const periods = 8;

/** Milliseconds after which the tally of the engine is read again. */
const readMs = 1000;

export class Tallies {
  readonly #cluster: Cluster;
  readonly #keepMs: number;
  readonly #tallies = new Map<string, Tally>();
  /** How many sessions of a caller a node counts before it updates the engine. */
  #step = 0;
  #sweptIn = 0;

  constructor(cluster: Cluster, keepMs: number) {
    this.#cluster = cluster;
    this.#keepMs = keepMs;
  }

  get period(): number {
    return Math.floor((Date.now() / this.#keepMs) * periods);
  }

  /** Counts a new session, or with -1 one that has ended. */
  add(caller: string, amount: 1 | -1): void {
    this.#count(caller, this.period, amount);
  }

  /** Counts a session, last counted in the given period, as kept now. Returns the period that it is counted in. */
  keep(caller: string, before: number): number {
    const now = this.period;
    if (before === now) return now;
    if (before >= now - periods) this.#count(caller, before, -1);
    this.#count(caller, now, 1);
    return now;
  }

  /** The sessions of a caller on all nodes. It may be wrong by a thousandth of `free`, the sessions that there is still room for. */
  async of(caller: string, free: number): Promise<number> {
    this.#step = Math.max(0, Math.floor(free / 1024));
    const tally = this.#tallyOf(caller);
    const isOld = tally.shared > 0 && performance.now() - tally.readAt >= readMs;
    if (isOld || this.#sum(tally.pending) >= this.#step) await this.#share(caller, tally);
    return tally.shared + this.#sum(tally.pending);
  }

  /** Forgets callers whose sessions have expired. */
  sweep(): void {
    const now = this.period;
    if (this.#sweptIn === now) return;
    this.#sweptIn = now;
    for (const [caller, { pending, readAt, sharing }] of this.#tallies) {
      for (const period of pending.keys()) if (period < now - periods) pending.delete(period);
      const isUsed = pending.size > 0 || sharing !== undefined || performance.now() - readAt < this.#keepMs;
      if (!isUsed) this.#tallies.delete(caller);
    }
  }

  #tallyOf(caller: string): Tally {
    let tally = this.#tallies.get(caller);
    if (tally === undefined) {
      tally = { pending: new Map(), shared: 0, readAt: Number.NEGATIVE_INFINITY, sharing: undefined };
      this.#tallies.set(caller, tally);
    }
    return tally;
  }

  #count(caller: string, period: number, amount: number): void {
    const tally = this.#tallyOf(caller);
    addTo(tally.pending, period, amount);
    // Ends of sessions are shared too, because this caller may never be counted again here.
    const isMuch = -this.#sum(tally.pending) > this.#step;
    if (isMuch) ignoreRejection(this.#share(caller, tally));
    else if (tally.pending.size === 0 && tally.readAt < 0) this.#tallies.delete(caller);
  }

  /** Adds the pending counts to the tally in the engine, and reads it. */
  async #share(caller: string, tally: Tally): Promise<void> {
    if (tally.sharing !== undefined) return tally.sharing;
    tally.sharing = this.#shareNow(caller, tally);
    try {
      await tally.sharing;
    } finally {
      tally.sharing = undefined;
    }
  }

  async #shareNow(caller: string, tally: Tally): Promise<void> {
    const told: Counts = new Map(tally.pending);
    let counts: Counts = new Map();
    await changeValue(this.#cluster.engine, keyOf(caller), "The tally of a caller", async (stored) => {
      counts = stored === undefined ? new Map() : this.#read(stored.text);
      if (told.size === 0) return undefined;
      for (const [period, amount] of told) addTo(counts, period, amount);
      return { text: JSON.stringify(Object.fromEntries(counts)), ttlMs: this.#keepMs * 2 };
    });
    for (const [period, amount] of told) addTo(tally.pending, period, -amount);
    tally.shared = Math.max(0, this.#sum(counts));
    tally.readAt = performance.now();
  }

  /** The counts of the periods that still matter; none if the text is invalid. */
  #read(text: string): Counts {
    const value = readJson(text);
    const counts: Counts = new Map();
    if (!isObject(value)) {
      this.#cluster.ignoreInvalid("owner");
      return counts;
    }
    const now = this.period;
    for (const [period, amount] of Object.entries(value)) {
      const isCurrent = Number(period) >= now - periods && Number(period) <= now + 1;
      if (isCurrent && Number.isSafeInteger(amount)) counts.set(Number(period), amount as number);
    }
    return counts;
  }

  #sum(counts: Counts): number {
    const oldest = this.period - periods;
    let sum = 0;
    for (const [period, amount] of counts) if (period >= oldest) sum += amount;
    return sum;
  }
}

function addTo(counts: Counts, period: number, amount: number): void {
  const count = (counts.get(period) ?? 0) + amount;
  if (count === 0) counts.delete(period);
  else counts.set(period, count);
}

function keyOf(caller: string): ValueKey {
  return { kind: "owner", tag: `tally ${caller}` };
}
