// One node of a cluster: joins and leaves it, tracks the other nodes, exchanges messages and follows logs.
import { Callbacks } from "../../base/async/callbacks.ts";
import { inBackground } from "../../base/async/timers.ts";
import { logRejection, RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { HalyardError } from "../../base/errors.ts";
import { withDefaults } from "../../base/options.ts";
import { randomId } from "../../base/wire/crypto.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { ClusterHost } from "./backplane.ts";
import { Bus, type BusHandler, PendingQuestions } from "./bus.ts";
import type { Cluster, FollowedLog, PartKind, Parts } from "./cluster.ts";
import {
  type Engine,
  type EngineReceiver,
  type EngineSource,
  knownBackplane,
  type ValueKind,
} from "../engine/engine.ts";
import { Feed, Feeds, type LogReader } from "./feed.ts";
import { Forwarding } from "./forwarding.ts";
import { LogBudget } from "./log-budget.ts";
import { countEngine } from "./log-room.ts";
import { beatsPerLease, type ClusterNode, Presence } from "./presence.ts";
import { openEngine } from "../engine/sealed-engine.ts";

/** How long the logs that a node follows are kept, unless it follows them again before. */
const followMs = 3_600_000;

/** Milliseconds that a node waits for its own first beat when it joins. */
const joinMs = 10_000;

/** How long the claim of a node id is kept without being renewed. */
const claimMs = 24 * 3_600_000;

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
  readonly questions: PendingQuestions = new PendingQuestions(this);
  readonly forwarding: Forwarding = new Forwarding(this);
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
    this.leaseMs = withDefaults(backplane.options, knownBackplane).leaseMs;
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

  part<Part>(kind: PartKind<Part>): Part {
    return this.#parts.get(kind) as Part;
  }

  // Called before the node joins.

  on(kind: string, handler: BusHandler): () => void {
    const handlers = this.#handlers.get(kind) ?? new Set();
    this.#handlers.set(kind, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  onJoin(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  introduce(about: () => JsonObject): void {
    this.#about.push(about);
  }

  onVerify(check: () => Promise<boolean>): void {
    this.#checks.push(check);
  }

  onLeft(callback: (node: string) => void): () => void {
    this.#lefts.add(callback);
    return () => void this.#lefts.delete(callback);
  }

  onBack(callback: () => void): () => void {
    return this.#backs.add(callback);
  }

  // Joining and leaving.

  join(): Promise<void> {
    this.#users++;
    this.#joining ??= this.#join().catch((error: unknown) => {
      this.#joining = undefined;
      throw error;
    });
    return this.#joining;
  }

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

  get hasJoined(): boolean {
    return this.#stay !== undefined;
  }

  /** The id of this node, which is another one each time it joins. */
  get node(): string {
    return this.#stay?.node ?? "";
  }

  get isLeased(): boolean {
    return this.#stay?.presence.isLeased === true;
  }

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

  nodes(): ClusterNode[] {
    return this.#stay?.presence.list() ?? [];
  }

  hears(node: string): boolean {
    return this.#stay?.presence.has(node) === true;
  }

  clockOf(node: string): number {
    return this.#stay?.presence.clockOf(node) ?? Date.now();
  }

  // Using it.

  get engine(): Engine {
    return this.#joined.engine;
  }

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

  ignoreInvalid(kind: ValueKind): void {
    const log = RateLimitedLog.of(this.#host.diagnostics.logger);
    log.error(`Ignored an invalid value of the kind ${kind} in ${this.#backplane.engine}`);
  }

  get bus(): Bus {
    return this.#joined.bus;
  }

  read(log: string, reader: LogReader): Feed {
    const feed = new Feed(this.engine, log, reader);
    this.#feeds.add(feed);
    return feed;
  }

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
    const engine = countEngine(opened, logBudget);
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
