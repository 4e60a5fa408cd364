// Logs: the messages of a subject, which the server publishes again, with their numbers, to the nodes that follow the log.
import { type AppendOptions, type LogEntry, maxLogBytes, maxLogEntries } from "../engine/engine.ts";
import { byteLength } from "../engine/log-entries.ts";
import { ignoreRejection } from "../../base/async/promises.ts";
import type { EngineClock } from "./clock.ts";
import type { NatsMessage, NatsSubscription } from "./connection.ts";
import { type JetStream, maxBytesHeader, numberIn, type StoredMessage } from "./jetstream.ts";
import type { NatsLink } from "./link.ts";
import { LogReads } from "./log-reads.ts";
import { LogWindows } from "./log-windows.ts";
import { type NatsNames, tokenOf } from "./names.ts";
import { NatsStream } from "./stream.ts";

/**
 * How many times its `keepMs` an entry stays on the server, because the expiry of a message cannot be extended while its log is
 * followed.
 */
const agesKept = 4;

/** How many marks are written at the same time. */
const marksAtOnce = 64;

/** How many logs have their first number remembered. */
const maxKnown = 10_000;

interface Followed {
  readonly subscription: NatsSubscription;
  /** The number of the newest entry that has arrived. */
  arrived: number;
  /** The number of the entry after which this node stops following. */
  last: number;
}

export interface LogsOptions {
  readonly link: NatsLink;
  readonly jetstream: JetStream;
  readonly clock: EngineClock;
  readonly names: NatsNames;
  readonly node: string;
  readonly entry: (log: string, entry: LogEntry) => void;
}

export class Logs {
  readonly #options: LogsOptions;
  readonly #entries: NatsStream;
  /** A mark for each followed log, which keeps the log even if no entries are added. */
  readonly #marks: NatsStream;
  readonly #reads: LogReads;
  readonly #followed = new Map<string, Followed>();
  /**
   * The first sequence number of each log, as this node knows it. It is sent with every entry: the server removes old entries,
   * and the remaining ones must not look like a whole log.
   */
  readonly #since = new Map<string, number>();
  readonly #windows: LogWindows;

  constructor(options: LogsOptions) {
    this.#options = options;
    const { jetstream, names, link, node } = options;
    this.#entries = new NatsStream(jetstream, {
      name: names.stream("log"),
      subjects: [names.subject("log", "*"), names.subject("clock")],
      // One more than a log has, to know the number before the first entry.
      max_msgs_per_subject: maxLogEntries + 1,
      republish: { src: names.subject("log", "*"), dest: names.subject("live", "{{wildcard(1)}}") },
    });
    this.#marks = new NatsStream(jetstream, {
      name: names.stream("followed"),
      subjects: [names.subject("followed", "*")],
      max_msgs_per_subject: 1,
    });
    this.#windows = new LogWindows({
      drop: (log, before) => void ignoreRejection(this.#purge(log, before)),
      expire: (log) => void ignoreRejection(this.#removeExpired(log)),
    });
    this.#reads = new LogReads(link, jetstream, this.#entries.name, (id) => names.subject("inbox", node, id));
  }

  get streams(): Iterable<NatsStream> {
    return [this.#entries, this.#marks];
  }

  /** Makes the engine stamp a message, and returns the time. */
  async stamp(): Promise<number> {
    const { jetstream, names } = this.#options;
    const seq = (await jetstream.publish(names.subject("clock"), "", { ttlMs: undefined })) ?? 0;
    const stamped = await jetstream.find(this.#entries.name, { seq });
    if (stamped === undefined) throw new Error("JetStream did not keep the message that it stamped");
    return stamped.storedAt;
  }

  async append(log: string, text: string, options: AppendOptions): Promise<number> {
    const { keepMs, follow, isOnly, maxBytes } = options;
    const { jetstream, names } = this.#options;
    await this.#entries.keep(agesKept * keepMs);
    const token = await tokenOf(log);
    const wasFollowed = this.#followed.has(log);
    // The server handles the subscription before the entry.
    if (follow === "start") this.#subscribe(log, token);
    try {
      const subject = names.subject("log", token);
      // The remaining entries must not look like a whole log.
      if (isOnly && !this.#since.has(log)) await this.#learnSince(log, subject);
      const since = this.#since.get(log);
      const published = (await jetstream.publish(subject, text, { ttlMs: keepMs, since, maxBytes })) ?? 0;
      const sequence = this.#numberOf(published);
      if (!this.#since.has(log)) void ignoreRejection(this.#learnSince(log, subject));
      if (isOnly) await this.#purge(log, published);
      else if (!this.#followed.has(log)) this.#windows.add(log, published, byteLength(text), maxBytes);
      this.#windows.keep(log, keepMs);
      if (follow === "stop") this.#stopAfter(log, sequence);
      return sequence;
    } catch (error) {
      if (follow === "start" && !wasFollowed) this.#stopAfter(log, 0);
      throw error;
    }
  }

  async read(log: string, from: number): Promise<readonly LogEntry[]> {
    const subject = this.#options.names.subject("log", await tokenOf(log));
    // Reading the entry before `from` too gives the `previous` number of the next one. A caller that names an entry of the log
    // has read it before.
    const first = from - this.#entries.base;
    let messages = await this.#reads.read(subject, Math.max(first - 1, 1));
    const isWhole = first <= 1 || (messages[0]?.sequence ?? 0) > first;
    if (isWhole && first > 1) messages = await this.#reads.read(subject, 1);
    const newest = messages.at(-1);
    if (newest === undefined || (await this.#isOver(log, newest))) return [];
    const kept = entriesOf(messages, isWhole).filter(({ sequence }) => sequence >= first);
    return kept.map((entry) => this.#entryOf(entry));
  }

  async follow(logs: readonly string[], keepMs: number): Promise<void> {
    const { jetstream, names } = this.#options;
    await this.#marks.keep(keepMs);
    const followOne = async (log: string): Promise<void> => {
      const token = await tokenOf(log);
      this.#subscribe(log, token);
      await jetstream.publish(names.subject("followed", token), "", { ttlMs: keepMs });
    };
    for (let from = 0; from < logs.length; from += marksAtOnce) {
      await Promise.all(logs.slice(from, from + marksAtOnce).map(followOne));
    }
  }

  unfollow(log: string): void {
    this.#stopAfter(log, 0);
  }

  async removeLog(log: string): Promise<void> {
    this.#since.delete(log);
    this.#windows.delete(log);
    await this.#purge(log);
  }

  /** Forgets the first numbers and windows of the logs, because the server may have lost them. */
  forget(): void {
    this.#since.clear();
    this.#windows.clear();
  }

  /** Removes the messages of a log, all or those before a number. */
  async #purge(log: string, seq?: number): Promise<void> {
    const { jetstream, names } = this.#options;
    const filter = names.subject("log", await tokenOf(log));
    await jetstream.call(`STREAM.PURGE.${this.#entries.name}`, { filter, ...(seq !== undefined && { seq }) });
  }

  /** Removes an expired log, because the server would keep its messages for as long as those of followed logs. */
  async #removeExpired(log: string): Promise<void> {
    const { jetstream, names } = this.#options;
    const subject = names.subject("log", await tokenOf(log));
    const newest = await jetstream.find(this.#entries.name, { last_by_subj: subject });
    if (newest !== undefined && (await this.#isOver(log, newest)))
      await this.#purge(log, newest.sequence + 1);
  }

  async #learnSince(log: string, subject: string): Promise<void> {
    const { jetstream } = this.#options;
    const first = await jetstream.find(this.#entries.name, { seq: 1, next_by_subj: subject });
    if (first !== undefined && !this.#since.has(log)) this.#knowSince(log, first.since ?? first.sequence);
  }

  #knowSince(log: string, sequence: number): void {
    this.#since.set(log, sequence);
    for (const oldest of this.#since.keys()) {
      if (this.#since.size <= maxKnown) break;
      this.#since.delete(oldest);
    }
  }

  /** Whether the log has expired: its newest entry has, and no node keeps it by following. */
  async #isOver(log: string, { storedAt, ttlMs = 0 }: StoredMessage): Promise<boolean> {
    const { jetstream, clock, names } = this.#options;
    if (!(await clock.hasPassed(storedAt + ttlMs))) return false;
    const subject = names.subject("followed", await tokenOf(log));
    const mark = await jetstream.find(this.#marks.name, { last_by_subj: subject });
    return mark === undefined || clock.hasPassed(mark.storedAt + (mark.ttlMs ?? 0));
  }

  #subscribe(log: string, token: string): void {
    const already = this.#followed.get(log);
    if (already !== undefined) {
      already.last = Number.POSITIVE_INFINITY;
      return;
    }
    const { link, names } = this.#options;
    const subscription = link.subscribe(names.subject("live", token), (message) =>
      this.#arrive(log, message),
    );
    this.#followed.set(log, { subscription, arrived: 0, last: Number.POSITIVE_INFINITY });
  }

  #arrive(log: string, { data, headers }: NatsMessage): void {
    const followed = this.#followed.get(log);
    const sequence = Number(headers?.get("Nats-Sequence"));
    const previous = Number(headers?.get("Nats-Last-Sequence"));
    // Another program may publish to the subject without these headers.
    if (followed === undefined || !(sequence > previous)) return;
    const entry = this.#entryOf({ sequence, previous, text: new TextDecoder().decode(data) });
    this.#options.entry(log, entry);
    this.#windows.add(log, sequence, data.length, numberIn(headers?.get(maxBytesHeader)));
    if (previous === 0) this.#knowSince(log, sequence);
    followed.arrived = entry.sequence;
    this.#stopAfter(log, followed.last);
  }

  /** The server's numbers start again after it has lost the stream, but those of entries continue. */
  #numberOf(sequence: number): number {
    return sequence === 0 ? 0 : this.#entries.base + sequence;
  }

  #entryOf({ sequence, previous, text }: LogEntry): LogEntry {
    return { sequence: this.#numberOf(sequence), previous: this.#numberOf(previous), text };
  }

  /** Stops following the log once the entry with this number has arrived. */
  #stopAfter(log: string, sequence: number): void {
    const followed = this.#followed.get(log);
    if (followed === undefined) return;
    followed.last = sequence;
    if (followed.arrived < sequence) return;
    followed.subscription.unsubscribe();
    this.#followed.delete(log);
  }
}

/**
 * The messages as entries, each with the number of the one before. `isWhole`: the first message is the first one on the server.
 */
function entriesOf(messages: readonly StoredMessage[], isWhole: boolean): LogEntry[] {
  const entries = messages.map(({ sequence, text }, index) => {
    const previous = messages[index - 1]?.sequence ?? (isWhole ? removedBefore(messages) : sequence - 1);
    return { sequence, previous, text };
  });
  return newestOf(entries.slice(-maxLogEntries), messages.at(-1)?.maxBytes);
}

/** As many of the newest entries as a log keeps; the server may still have more. */
function newestOf(entries: readonly LogEntry[], maxBytes = maxLogBytes): LogEntry[] {
  let bytes = 0;
  let from = entries.length;
  while (from > 0) {
    bytes += byteLength(entries[from - 1]?.text ?? "");
    if (bytes > Math.min(maxBytes, maxLogBytes) && from < entries.length) break;
    from--;
  }
  return entries.slice(from);
}

/** The number of an entry that the server has removed before these; 0 if they are the whole log. */
function removedBefore(messages: readonly StoredMessage[]): number {
  const first = messages[0]?.sequence ?? 0;
  return messages.find(({ since = first }) => since < first)?.since ?? 0;
}
