// A process without a backplane: its engine is in its own memory, and there are no other nodes.
import type { Logger } from "../diagnostics/logger.ts";
import type { JsonObject } from "../base/wire/message.ts";
import type { BusHandler } from "./bus.ts";
import type { Cluster, FollowedLog, Forwards, NodeMessages, NodeQuestions } from "./cluster.ts";
import { CountedEngine } from "./counted-engine.ts";
import type { Engine } from "./engine.ts";
import type { LogReader } from "./feed.ts";
import { LoneFeeds } from "./lone-feed.ts";
import { LoneLogs } from "./log-room.ts";
import { Memory, MemoryEngine } from "./memory-engine.ts";
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
    this.engine = new CountedEngine(new MemoryEngine(this.#memory, this.node), this.logBudget);
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
