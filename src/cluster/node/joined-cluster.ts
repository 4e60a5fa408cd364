// One node of a cluster: joins and leaves it, tracks the other nodes, exchanges messages and follows logs.
import { Callbacks } from "../../base/async/callbacks.ts";
import { inBackground } from "../../base/async/timers.ts";
import { logRejection, RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { HalyardError } from "../../base/errors.ts";
import { randomId } from "../../protocol/random-id.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { ClusterHost } from "./backplane.ts";
import { Bus, type BusHandler } from "./bus.ts";
import type { Cluster, FollowedLog } from "./cluster.ts";
import { CountedEngine } from "./counted-engine.ts";
import type { Engine, EngineReceiver, EngineSource, ValueKind } from "../engine/engine.ts";
import { Feed, type LogReader } from "./feed.ts";
import { Feeds } from "./feeds.ts";
import { Forwarding } from "./forwarding.ts";
import { LogBudget } from "./log-budget.ts";
import { PendingQuestions } from "./node-questions.ts";
import type { PartKind, Parts } from "./parts.ts";
import { beatsPerLease, type ClusterNode, Presence } from "./presence.ts";
import { openEngine } from "../engine/sealed-engine.ts";

/** How long the logs that a node follows are kept, unless it follows them again before. */
const followMs = 3_600_000;

/** Milliseconds that a node waits for its own first beat when it joins. */
const joinMs = 10_000;

/** How long the claim of a node id is kept without being renewed. */
const claimMs = 24 * 3_600_000;

const defaultLeaseMs = 5000;

/** A node whose beat is later than this many intervals was halted. */
const maxBeatsLate = 2;

/** The state of one stay in the cluster, from join to leave. */
interface Stay {
  readonly node: string;
  readonly engine: Engine;
  readonly bus: Bus;
  readonly presence: Presence;
  readonly timers: readonly ReturnType<typeof setInterval>[];
}

/**
 * The parts of a server that share something register a handler for their messages and a step of joining before the node joins.
 * Nothing here knows what the messages, values and logs mean.
 */
export class JoinedCluster implements Cluster {
  readonly isAlone = false;
  readonly leaseMs: number;
  /** The secrets of the backplane, the one that seals first; empty if it has none. */
  readonly secrets: readonly string[];
  readonly #backplane: EngineSource;
  readonly #parts: Parts;
  readonly #host: ClusterHost;
  readonly #handlers = new Map<string, Set<BusHandler>>();
  readonly #steps: (() => Promise<void>)[] = [];
  readonly #feeds = new Feeds();
  readonly #backs = new Callbacks();
  readonly #checks: (() => Promise<boolean>)[] = [];
  readonly #lefts = new Set<(node: string) => void>();
  readonly #about: (() => JsonObject)[] = [];
  /** Asks other nodes, and answers their questions. */
  readonly questions: PendingQuestions = new PendingQuestions(this);
  /** Passes messages of clients on to other nodes. */
  readonly forwarding: Forwarding = new Forwarding(this);
  /** Counts the bytes in the logs, and clears logs when there are too many. */
  readonly logBudget: LogBudget;
  #joining: Promise<void> | undefined;
  #stay: Stay | undefined;
  #users = 0;
  /** The check of the engine that runs now. */
  #verifying: Promise<boolean> | undefined;
  /** Whether all steps of joining are done. */
  #isReady = false;
  /** Resolves when the engine has the claim of this node again. */
  #claimed: Promise<unknown> = Promise.resolve();
  /** When the last beat was sent, on the monotonic clock. */
  #beatAt = 0;

  constructor(backplane: EngineSource, host: ClusterHost, parts: Parts) {
    this.#backplane = backplane;
    this.#parts = parts;
    this.#host = host;
    this.leaseMs = backplane.options.leaseMs ?? defaultLeaseMs;
    this.secrets = [backplane.options.secret ?? []].flat();
    this.logBudget = new LogBudget(this, host.diagnostics.logger);
    this.on("beat", (info, from) => this.#heard(from, info));
    this.on("hello", (info, from) => {
      this.#stay?.presence.heard(from, info);
      if (from === this.node) return this.#info();
      // Sent at once, so that a new node knows the others without waiting for their beats.
      this.bus.sendSoon(from, "beat", this.#info());
    });
    this.on("bye", (_, from) => this.#stay?.presence.left(from));
  }

  /** The code of a layer that only nodes of a cluster need. */
  part<Part>(kind: PartKind<Part>): Part {
    return this.#parts.get(kind) as Part;
  }

  // Called before the node joins.

  /** Adds a handler for the messages of a kind, until you call the returned function. Several endpoints may each add theirs. */
  on(kind: string, handler: BusHandler): () => void {
    const handlers = this.#handlers.get(kind) ?? new Set();
    this.#handlers.set(kind, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /**
   * Adds a step of joining, which may use the engine. The node has joined when all steps have resolved. If one rejects, joining
   * fails.
   */
  onJoin(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** Adds members to what nodes tell each other about themselves. */
  introduce(about: () => JsonObject): void {
    this.#about.push(about);
  }

  /** Adds a check whether the engine still has a value that must be there. */
  onVerify(check: () => Promise<boolean>): void {
    this.#checks.push(check);
  }

  /** Calls `callback` when another node has left, until you call the returned function. */
  onLeft(callback: (node: string) => void): () => void {
    this.#lefts.add(callback);
    return () => void this.#lefts.delete(callback);
  }

  /**
   * Calls `callback` when the engine works again, until you call the returned function. Messages may have been lost meanwhile.
   */
  onBack(callback: () => void): () => void {
    return this.#backs.add(callback);
  }

  // Joining and leaving.

  /** Joins, once for all transports of the server. Rejects if the engine cannot be used. Call {@link JoinedCluster.leave} as often. */
  join(): Promise<void> {
    this.#users++;
    this.#joining ??= this.#join().catch((error: unknown) => {
      this.#joining = undefined;
      throw error;
    });
    return this.#joining;
  }

  /** Leaves when every transport has left. */
  async leave(): Promise<void> {
    if (--this.#users > 0 || this.#joining === undefined) return;
    await this.#joining.catch(() => {});
    this.#joining = undefined;
    const stay = this.#stay;
    if (stay === undefined) return;
    await stay.bus.tell("bye", {}).catch(() => {});
    this.#drop(stay);
    await stay.engine.remove({ kind: "node", tag: stay.node }).catch(() => {});
    await stay.engine.close().catch(() => {});
  }

  /** Whether this node is in the cluster, perhaps without reaching the engine right now. */
  get hasJoined(): boolean {
    return this.#stay !== undefined;
  }

  /** The id of this node, which is another one each time it joins. */
  get node(): string {
    return this.#stay?.node ?? "";
  }

  /** Whether this node still hears the others, so that its copies are good. */
  get isLeased(): boolean {
    return this.#stay?.presence.isLeased === true;
  }

  /** Whether this node has joined and, as far as it knows, reaches the engine. */
  get isReachable(): boolean {
    return this.#isReady && this.#stay?.presence.isReachable === true;
  }

  /**
   * The number of the lease: undefined while {@link JoinedCluster.isLeased} is false, and another one when messages may have been lost
   * since.
   */
  get lease(): number | undefined {
    return this.#stay?.presence.lease;
  }

  /** The nodes that this one hears. */
  nodes(): ClusterNode[] {
    return this.#stay?.presence.list() ?? [];
  }

  /** Whether this node hears that one. */
  hears(node: string): boolean {
    return this.#stay?.presence.has(node) === true;
  }

  /** The time on the wall clock of a node, as far as this one knows it: clocks need not agree. */
  clockOf(node: string): number {
    return this.#stay?.presence.clockOf(node) ?? Date.now();
  }

  // Using it.

  /** The engine. Every operation has a deadline and rejects with the code `BACKPLANE_UNAVAILABLE`. */
  get engine(): Engine {
    return this.#joined.engine;
  }

  /**
   * Resolves with whether the engine still has the values of this node. If not, it has lost its data although the connection
   * stayed, which is handled like an outage. Rejects if the engine cannot be reached.
   */
  verify(): Promise<boolean> {
    return (this.#verifying ??= this.#verify().finally(() => (this.#verifying = undefined)));
  }

  async #verify(): Promise<boolean> {
    await this.#claimed;
    const stay = this.#joined;
    const { engine, node } = stay;
    const isClaimed = engine.get({ kind: "node", tag: node }).then((claim) => claim !== undefined);
    const checks = [isClaimed, engine.isSame(), ...this.#checks.map((check) => check())];
    if ((await Promise.all(checks)).every(Boolean)) return true;
    if (this.#stay === stay) engine.renew(new Error(`${this.#backplane.engine} has lost its data`));
    return false;
  }

  /** Logs that a value in the engine has an unexpected form. It counts as absent. */
  ignoreInvalid(kind: ValueKind): void {
    const log = RateLimitedLog.of(this.#host.diagnostics.logger);
    log.error(`Ignored an invalid value of the kind ${kind} in ${this.#backplane.engine}`);
  }

  /** Sends messages to other nodes. */
  get bus(): Bus {
    return this.#joined.bus;
  }

  /**
   * Passes the entries of a log to the reader, from {@link Feed.start} until {@link JoinedCluster.stopReading}. Also tell the
   * engine to follow the log, with an entry or with `follow`; the node repeats that at intervals.
   */
  read(log: string, reader: LogReader): Feed {
    const feed = new Feed(this.engine, log, reader);
    this.#feeds.add(feed);
    return feed;
  }

  /** Stops passing entries to the reader of this feed. If it was the last reader of its log, also tell the engine. */
  stopReading(feed: FollowedLog): void {
    this.#feeds.remove(feed as Feed);
  }

  get #joined(): Stay {
    if (this.#stay !== undefined) return this.#stay;
    throw new HalyardError(
      "BACKPLANE_UNAVAILABLE",
      "The node has not joined the cluster: serve the server first, and await serveHttp() or the handler's ready",
    );
  }

  #info(): JsonObject {
    const { version } = this.#host.info;
    return Object.assign(
      { version, sentAt: performance.now(), clock: Date.now() },
      ...this.#about.map((about) => about()),
    ) as JsonObject;
  }

  async #join(): Promise<void> {
    const { info, diagnostics } = this.#host;
    const { logger } = diagnostics;
    const node = randomId(9);
    const prefix = this.#backplane.options.prefix ?? `halyard:${info.name}:`;
    const bus = new Bus(node, this.#handlers, logger);
    const receiver: EngineReceiver = {
      // The node cannot handle messages before it has joined and after it has left.
      message: (text) => this.#stay && bus.receive(text),
      entry: (log, entry) => {
        this.#notice();
        this.#feeds.receive(log, entry);
      },
      lost: (error) => this.#lost(error),
      back: () => this.#back(),
    };
    const { secrets, logBudget } = this;
    const opened = await openEngine(this.#backplane, {
      prefix,
      node,
      receiver,
      logger,
      secrets,
      beatMs: this.leaseMs / beatsPerLease,
    });
    const engine = new CountedEngine(opened, logBudget);
    bus.connect(engine);
    const presence = new Presence(node, this.leaseMs, (other, state) => {
      diagnostics.observe?.({ type: "node", state, node: other });
      if (state === "left") for (const left of this.#lefts) left(other);
    });
    const beat = (): void => {
      this.#notice();
      bus.sendSoon("all", "beat", this.#info());
      // While the engine cannot be reached, its own events report that.
      if (this.#isReady) this.verify().catch(() => {});
    };
    const timers = [
      inBackground(setInterval(beat, this.leaseMs / beatsPerLease)),
      inBackground(setInterval(() => this.#followAgain(), followMs / 4)),
      // While the bus is down, the entries of followed logs do not arrive, so the node reads them.
      inBackground(setInterval(() => presence.isLeased || void this.#feeds.catchUp(), this.leaseMs)),
    ];
    this.#stay = { node, engine, bus, presence, timers };
    try {
      if ((await this.#claim(engine, node)) === undefined) {
        throw new Error(`Another node has the id ${node}: do not copy a running process`);
      }
      await this.#hear(bus, node);
      for (const step of this.#steps) await step();
      this.#isReady = true;
    } catch (error) {
      this.#drop(this.#stay);
      await engine.close().catch(() => {});
      throw error;
    }
  }

  #claim(engine: Engine, node: string): Promise<string | undefined> {
    return engine.create({ kind: "node", tag: node }, this.#host.info.version, claimMs);
  }

  /** After this process was halted, reads the logs before it trusts arriving messages, because other nodes have continued. */
  #notice(): void {
    const now = performance.now();
    const wasHalted = this.#isReady && now - this.#beatAt > (maxBeatsLate * this.leaseMs) / beatsPerLease;
    this.#beatAt = now;
    if (!wasHalted) return;
    this.#feeds.lost();
    void this.#feeds.catchUp();
  }

  /** Sends a hello, and resolves when this node has received it: then it hears the other nodes too. */
  async #hear(bus: Bus, node: string): Promise<void> {
    let isHeard = false;
    await bus.requestAll("hello", this.#info(), joinMs, (_, from) => (isHeard ||= from === node));
    if (isHeard) return;
    const problem = `Messages through ${this.#backplane.engine} do not come back within ${joinMs} ms`;
    const remedy = "check that the user may publish and subscribe";
    throw new HalyardError("BACKPLANE_UNAVAILABLE", `${problem}: ${remedy}`);
  }

  #heard(from: string, info: JsonObject): void {
    const wasLeased = this.isLeased;
    this.#stay?.presence.heard(from, info);
    if (!wasLeased && this.isLeased) void this.#feeds.catchUp();
  }

  #drop(stay: Stay): void {
    for (const timer of stay.timers) clearInterval(timer);
    this.#stay = undefined;
    this.#isReady = false;
    this.logBudget.close();
    this.#feeds.close();
  }

  /** Keeps the logs that this node follows, even if no entries are added for long. */
  #followAgain(): void {
    const { logs } = this.#feeds;
    const { logger } = this.#host.diagnostics;
    const claim = { kind: "node", tag: this.node } as const;
    logRejection(logger, "Keeping the claim of this node", this.engine.touch([claim], claimMs));
    if (logs.length > 0) logRejection(logger, "Following logs", this.engine.follow(logs, followMs));
  }

  #lost(error: unknown): void {
    const { logger, observe } = this.#host.diagnostics;
    this.#stay?.presence.cutOff();
    this.#feeds.lost();
    const problem = `${this.#backplane.engine} cannot be reached: this node serves what it can alone`;
    logger.error(problem, { error });
    observe?.({ type: "engine", state: "lost", reason: String(error) });
  }

  #back(): void {
    const { logger, observe } = this.#host.diagnostics;
    logger.warn(`${this.#backplane.engine} can be reached again`);
    observe?.({ type: "engine", state: "back" });
    const stay = this.#stay;
    if (stay !== undefined) this.#claimed = this.#claim(stay.engine, stay.node).catch(() => {});
    this.#stay?.presence.missed();
    this.#stay?.bus.sendSoon("all", "hello", this.#info());
    void this.#feeds.catchUp();
    this.#backs.call();
  }
}
