// A log that this node follows: passes every entry on once and in order, whatever the bus loses, doubles or reorders.
import type { Engine, LogEntry } from "./engine.ts";

/** What becomes of the entries of a log. */
export interface LogReader {
  entry(entry: LogEntry): void;
  /** Entries were lost for good: they were dropped before they could be read, or the engine has lost them. */
  gap(): void;
}

/** Entries that are remembered, to notice that the engine gives out a number again after it has lost its tail. */
const remembered = 32;

export class Feed {
  readonly log: string;
  readonly #engine: Engine;
  readonly #reader: LogReader;
  /** The newest entries that were passed on, oldest first. */
  readonly #recent = new Map<number, string>();
  #position: number;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  #isOver = false;

  /** `position` is the sequence number of the last entry that needs not be passed on. */
  constructor(engine: Engine, log: string, reader: LogReader, position = 0) {
    this.#engine = engine;
    this.log = log;
    this.#reader = reader;
    this.#position = position;
  }

  /** The sequence number of the last entry that was passed on. */
  get position(): number {
    return this.#position;
  }

  /** Takes an entry that the engine delivers. */
  receive(entry: LogEntry): void {
    if (this.#isOver) return;
    const { sequence, previous, text } = entry;
    // Without an entry before it, the earlier ones have grown too old meanwhile.
    const isNext = previous === this.#position || previous === 0;
    if (this.#reading === undefined && isNext && sequence > this.#position) return this.#pass(entry);
    const isKnown = sequence <= this.#position && (this.#recent.get(sequence) ?? text) === text;
    // An entry is missing, or a number has been given out again: what the engine has decides.
    if (!isKnown) void this.catchUp().catch(() => {});
  }

  /** Reads what is missing. Rejects if the engine fails; then call it again when the engine is back. */
  catchUp(): Promise<void> {
    this.#mustReadAgain = true;
    return (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
  }

  close(): void {
    this.#isOver = true;
  }

  async #read(): Promise<void> {
    while (this.#mustReadAgain && !this.#isOver) {
      this.#mustReadAgain = false;
      const [oldest = this.#position] = this.#recent.keys();
      const entries = await this.#engine.read(this.log, Math.max(oldest, 1));
      if (!this.#isOver) this.#take(entries);
    }
  }

  #take(entries: readonly LogEntry[]): void {
    const isSame = ({ sequence, text }: LogEntry): boolean => this.#recent.get(sequence) === text;
    const last = entries.at(-1)?.sequence ?? 0;
    const isKept =
      this.#position === 0 ||
      entries.some(
        (entry) => entry.sequence === this.#position && (this.#recent.size === 0 || isSame(entry)),
      );
    if (isKept) {
      for (const entry of entries) if (entry.sequence > this.#position) this.#pass(entry);
      return;
    }
    // The last entry that was passed on is gone: dropped because newer ones came, or lost with the engine's tail.
    const unseen = entries.filter((entry) => !isSame(entry));
    this.#recent.clear();
    this.#position = Math.min(this.#position, last);
    this.#reader.gap();
    for (const entry of unseen) this.#pass(entry);
    this.#position = last;
  }

  #pass(entry: LogEntry): void {
    const { sequence, text } = entry;
    this.#position = sequence;
    this.#recent.set(sequence, text);
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= remembered) break;
      this.#recent.delete(oldest);
    }
    this.#reader.entry(entry);
  }
}
