// A process without a backplane: its engine is in its own memory, and there are no other nodes.
import type { Logger } from "../../base/logging/logger.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { BusHandler } from "./bus.ts";
import type { Cluster, FollowedLog, Forwards, NodeMessages, NodeQuestions } from "./cluster.ts";
import type { Engine, LogEntry } from "../engine/engine.ts";
import type { LogReader } from "./feed.ts";
import { countEngine, LoneLogs } from "./log-room.ts";
import { Memory, MemoryEngine } from "../engine/memory-engine.ts";
import type { ClusterNode } from "./presence.ts";

/** There is nothing to stop. */
const stopped = (): void => {};

const noQuestions: NodeQuestions = {
  answer: () => {},
  askAll: async () => "no",
  ask: async () => undefined,
};

/** A message that the endpoints of this process tell each other. */
type Tell = (kind: string, body: JsonObject) => Promise<void>;

const messages = (tell: Tell): NodeMessages => ({
  tell,
  request: async () => undefined,
  requestAll: async () => {},
  sendSoon: () => {},
});

const forwarding = (tell: Tell): Forwards => ({
  onPassed: () => stopped,
  pass: async () => ({ state: "gone" }),
  tell: (_caller, _to, kind, body) => tell(kind, body),
});

export class LoneCluster implements Cluster {
  readonly node = "";
  readonly isAlone = true;
  readonly secrets: readonly string[] = [];
  readonly leaseMs: number = Number.POSITIVE_INFINITY;
  readonly isReachable = true;
  readonly isLeased = true;
  readonly lease = 1;
  readonly engine: Engine;
  readonly bus: NodeMessages = messages((kind, body) => this.#tell(kind, body));
  readonly questions: NodeQuestions = noQuestions;
  readonly forwarding: Forwards = forwarding((kind, body) => this.#tell(kind, body));
  readonly logBudget: LoneLogs;
  readonly #feeds = new LoneFeeds();
  readonly #steps: (() => Promise<void>)[] = [];
  readonly #handlers = new Map<string, Set<BusHandler>>();
  readonly #memory = new Memory((log, entry) => this.#feeds.receive(log, entry));
  #users = 0;
  #joining: Promise<void> | undefined;
  hasJoined = false;

  constructor(logger: Logger) {
    this.logBudget = new LoneLogs(logger);
    this.engine = countEngine(new MemoryEngine(this.#memory, this.node), this.logBudget);
  }

  join(): Promise<void> {
    this.#users++;
    return (this.#joining ??= this.#join());
  }

  async #join(): Promise<void> {
    this.hasJoined = true;
    for (const step of this.#steps) await step();
  }

  async leave(): Promise<void> {
    if (--this.#users === 0) this.#memory.rest();
  }

  nodes(): ClusterNode[] {
    return [];
  }

  hears(): boolean {
    return false;
  }

  clockOf(): number {
    return Date.now();
  }

  on(kind: string, handler: BusHandler): () => void {
    const handlers = this.#handlers.get(kind) ?? new Set();
    this.#handlers.set(kind, handlers.add(handler));
    return () => handlers.delete(handler);
  }

  async #tell(kind: string, body: JsonObject): Promise<void> {
    for (const handler of this.#handlers.get(kind) ?? []) void handler(body, this.node);
  }

  onJoin(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  introduce(): void {}

  onVerify(): void {}

  onLeft(): () => void {
    return stopped;
  }

  onBack(): () => void {
    return stopped;
  }

  part(): undefined {
    return undefined;
  }

  read(log: string, reader: LogReader): FollowedLog {
    return this.#feeds.add(log, reader);
  }

  stopReading(feed: FollowedLog): void {
    this.#feeds.remove(feed);
  }

  async verify(): Promise<boolean> {
    return true;
  }

  ignoreInvalid(): void {}
}

/** One reader of a log. */
class LoneFeed implements FollowedLog {
  readonly log: string;
  readonly #reader: LogReader;
  /** The entries that arrived before the start. */
  #early: LogEntry[] | undefined = [];
  /** The sequence number of the last entry that arrived or was passed on. */
  position = 0;

  constructor(log: string, reader: LogReader) {
    this.log = log;
    this.#reader = reader;
  }

  start(last: LogEntry | undefined): void {
    const early = this.#early;
    if (early === undefined) return;
    this.#early = undefined;
    this.position = last?.sequence ?? 0;
    for (const entry of early) this.receive(entry);
  }

  receive(entry: LogEntry): void {
    if (entry.sequence <= this.position) return;
    this.position = entry.sequence;
    if (this.#early !== undefined) return void this.#early.push(entry);
    this.#reader.entries([entry]);
  }

  async catchUp(): Promise<void> {}

  catchUpSoon(): void {}
}

/** The readers of all logs; usually a log has one. */
class LoneFeeds {
  readonly #feeds = new Map<string, LoneFeed | LoneFeed[]>();

  add(log: string, reader: LogReader): LoneFeed {
    const feed = new LoneFeed(log, reader);
    const feeds = this.#feeds.get(log);
    this.#feeds.set(log, feeds === undefined ? feed : [feeds, feed].flat());
    return feed;
  }

  remove(feed: FollowedLog): void {
    const left = this.#of(feed.log).filter((other) => other !== feed);
    if (left.length === 0) this.#feeds.delete(feed.log);
    else this.#feeds.set(feed.log, left);
  }

  receive(log: string, entry: LogEntry): void {
    const feeds = this.#feeds.get(log);
    if (feeds instanceof LoneFeed) feeds.receive(entry);
    else for (const feed of feeds ?? []) feed.receive(entry);
  }

  #of(log: string): readonly LoneFeed[] {
    return [this.#feeds.get(log) ?? []].flat();
  }
}
