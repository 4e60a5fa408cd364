// The log of changes that all nodes share: each node appends its own, and delivers every one to its own listeners, in order.
import type { Cluster, FollowedLog } from "../../cluster/node/cluster.ts";
import { type LogEntry, maxLogBytes, maxLogEntries } from "../../cluster/engine/engine.ts";
import type { LogReader } from "../../cluster/node/feed.ts";
import type { Diagnostics } from "../diagnostics/events.ts";
import { logRejection, RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { type Grant, isGranted } from "../../protocol/principal.ts";
import { inBackground, within } from "../../base/async/timers.ts";
import { type CatalogueChange, type ChangeEntry, encodeChange, readCatalogueChange } from "./change.ts";
import type { Frame } from "./frame.ts";
import type { Listener } from "./listener.ts";
import { type Letter, merged } from "./mailbox.ts";
import { positionOf, sequenceOf, startOfLog } from "../../cluster/engine/log-entries.ts";

const logName = "changes";

/** Milliseconds that the log is kept after a change. Nodes keep it longer as long as they follow it. */
const keepMs = 3_600_000;

/** Milliseconds after which a node reads the log if its own change has not come back. */
const echoMs = 1000;

/** How long a node whose engine is back waits whether another node reports missed changes, in milliseconds. */
const settleMs = 500;

/** Milliseconds after which a node that has delivered changes alone tries to report that to the others. */
const owedMs = 1000;

/** Changes of this node that may still come back although the engine failed. */
const maxDoubtful = 1000;

/** Handles changes on this node. */
export interface ChangeHost {
  /** Delivers a change to the listeners of this node, and returns how many it reached. */
  deliver(change: CatalogueChange, position?: string): number;
  /** The frame of a change, if the listener subscribes to it. Its scopes are not checked. */
  frameFor(listener: Listener, change: CatalogueChange, position: string): Frame | undefined;
  /** Notifies every listener of this node that each of its topics may have changed. */
  tellEverything(): void;
}

/** Called when a node announces a change without a key, with the fingerprint if it is that of another node. */
type AnnounceWatch = (method: string, print: string | undefined) => void;

/** An entry of the log that this node has delivered. Without `change` it was not a valid change. */
interface Kept {
  readonly position: string;
  readonly length: number;
  readonly change: ChangeEntry | undefined;
}

export class ChangeLog {
  readonly #cluster: Cluster;
  readonly #host: ChangeHost;
  readonly #diagnostics: Diagnostics;
  /** The newest entries, oldest first: as many as the engine keeps. */
  #recent: Kept[] = [];
  #length = 0;
  /** When the newest of them arrived. */
  #keptAt = 0;
  #feed: FollowedLog | undefined;
  /** The id under which this node follows the log. */
  #node: string | undefined;
  /** The own changes that have not come back, by id. */
  readonly #awaited = new Map<string, (delivered: number) => void>();
  /** The own changes that were delivered although the engine failed, so that they are not delivered again if they come back. */
  readonly #doubtful = new Set<string>();
  /** Whether other nodes have missed changes of this one, and the timer that reports it to them. */
  #owesGap = false;
  #paying: ReturnType<typeof setTimeout> | undefined;
  /** How often the listeners were notified that everything may have changed. */
  #gaps = 0;
  /** The position of this node when a beat of another node was ahead of it. */
  #behindAt: string | undefined;
  #lastId = 0;
  #onAnnounced: AnnounceWatch = () => {};

  constructor(cluster: Cluster, host: ChangeHost, diagnostics: Diagnostics) {
    this.#cluster = cluster;
    this.#host = host;
    this.#diagnostics = diagnostics;
    cluster.onJoin(() => this.#join());
    cluster.introduce(() => ({ changes: this.position }));
    cluster.on("beat", ({ changes }) => this.#compare(changes));
    cluster.onVerify(() => this.#isKept());
    cluster.onBack(() => logRejection(diagnostics.logger, "Reading the log of changes", this.#resume()));
  }

  onAnnounced(watch: AnnounceWatch): void {
    this.#onAnnounced = watch;
  }

  /** Whether changes are sent to all nodes, because this one has joined the cluster. */
  get isShared(): boolean {
    return this.#node !== undefined && this.#node === this.#cluster.node;
  }

  /** The position in the log up to which this node has delivered changes. */
  get position(): string {
    return this.#recent.at(-1)?.position ?? startOfLog;
  }

  /**
   * The changes after a position that a listener subscribes to and `reader` may read, merged by topic. Undefined if they are
   * unknown, because the log is not kept that long or was lost: then notify the listener that everything may have changed.
   */
  since(
    position: string,
    listener: Listener,
    reader: Grant,
    isTold: (position: string) => boolean = () => false,
  ): readonly Letter[] | undefined {
    const at = this.#recent.findLastIndex((kept) => kept.position === position);
    if (at < 0) return undefined;
    const letters = new Map<string | symbol, Letter>();
    for (const { change, position: place } of this.#recent.slice(at + 1)) {
      if (change?.k === "missed") return undefined;
      const frame = change && this.#host.frameFor(listener, change, place);
      if (frame === undefined || !isGranted(frame.scopes, reader) || isTold(place)) continue;
      const { mergeKey = Symbol(), scopes } = frame;
      const letter = { text: listener.textOf(frame), scopes, position: place };
      letters.set(mergeKey, merged(letter, letters.get(mergeKey)));
    }
    return [...letters.values()];
  }

  /**
   * Sends a change to all nodes. Resolves when this one has delivered it, with the number of listeners that it reached here. If
   * the engine fails, only this node delivers it, and the others later learn that they may have missed changes.
   */
  async append(change: CatalogueChange): Promise<number> {
    const id = `${this.#cluster.node}.${++this.#lastId}`;
    const text = encodeChange({ ...change, id });
    let delivered: number | undefined;
    const arrival = new Promise<void>((resolve) => {
      this.#awaited.set(id, (count) => {
        delivered = count;
        resolve();
      });
    });
    try {
      await this.#cluster.engine.append(logName, text, { keepMs });
      if (this.#owesGap) logRejection(this.#diagnostics.logger, "Announcing a gap", this.#payGap());
      if (delivered === undefined) await within(echoMs, arrival);
      if (delivered === undefined) await this.#feed?.catchUp();
    } catch (error) {
      if (delivered === undefined) return this.#deliverAlone(id, change, error);
    } finally {
      this.#awaited.delete(id);
    }
    return delivered ?? 0;
  }

  #deliverAlone(id: string, change: CatalogueChange, error: unknown): number {
    const { logger } = this.#diagnostics;
    RateLimitedLog.of(logger).warn("A change reaches only the clients of this node", { error });
    this.#owesGap = true;
    // The engine may fail without being reported as lost, and then it is not reported as back either.
    if (this.#paying === undefined) this.#paying = inBackground(setTimeout(() => this.#payLate(), owedMs));
    this.#doubtful.add(id);
    for (const oldest of this.#doubtful) {
      if (this.#doubtful.size <= maxDoubtful) break;
      this.#doubtful.delete(oldest);
    }
    return this.#host.deliver(change);
  }

  /** Reads the kept entries, so that clients of other nodes can continue here, and follows the log. */
  async #join(): Promise<void> {
    this.#forget();
    const { engine } = this.#cluster;
    const reader: LogReader = {
      entries: (entries) => {
        for (const entry of entries) this.#receive(entry);
      },
      gap: () => this.#gap(),
    };
    this.#feed = this.#cluster.read(logName, reader);
    await engine.follow([logName], keepMs);
    const kept = await engine.read(logName, 1);
    for (const entry of kept) this.#keep(entry);
    this.#feed.start(kept.at(-1));
    this.#node = this.#cluster.node;
    await this.#begin();
  }

  /**
   * Reads the log if another node is ahead and no entry arrives until its next beat: the last entry may have been lost in
   * transit.
   */
  #compare(position: unknown): void {
    if (typeof position !== "string" || !(sequenceOf(position) > sequenceOf(this.position))) return;
    const isStuck = this.#behindAt === this.position;
    this.#behindAt = isStuck ? undefined : this.position;
    if (isStuck) this.#feed?.catchUp().catch(() => {});
  }

  /** Writes a first entry, because without one there would be no position that a client can return to. */
  async #begin(): Promise<void> {
    if (this.#recent.length === 0) await this.append({ k: "start" });
  }

  #receive(entry: LogEntry): void {
    const { position, change } = this.#keep(entry);
    if (change === undefined) {
      return RateLimitedLog.of(this.#diagnostics.logger).warn("Ignored an entry of the log of changes", {
        position,
      });
    }
    const delivered = this.#doubtful.delete(change.id) ? 0 : this.#deliver(change, position);
    this.#awaited.get(change.id)?.(delivered);
  }

  #deliver(change: ChangeEntry, position: string): number {
    if (change.k === "missed") this.#tellEverything();
    if (change.k === "publish" && change.key === undefined) {
      this.#onAnnounced(change.method, this.#isOwn(change) ? undefined : change.print);
    }
    return this.#host.deliver(change, position);
  }

  #isOwn({ id }: ChangeEntry): boolean {
    return id.startsWith(`${this.#cluster.node}.`);
  }

  #keep(entry: LogEntry): Kept {
    const { length } = entry.text;
    const kept = { position: positionOf(entry), length, change: readCatalogueChange(entry.text) };
    this.#recent.push(kept);
    this.#keptAt = performance.now();
    this.#length += length;
    while (this.#recent.length > maxLogEntries || (this.#length > maxLogBytes && this.#recent.length > 1)) {
      this.#length -= this.#recent.shift()?.length ?? 0;
    }
    return kept;
  }

  /** Whether the engine still has the last entry that this node has delivered. */
  async #isKept(): Promise<boolean> {
    const { position } = this;
    // An engine may drop an older entry even while the log is followed.
    const isOld = performance.now() - this.#keptAt > keepMs / 2;
    if (position === startOfLog || isOld) return true;
    const entries = await this.#cluster.engine.read(logName, sequenceOf(position));
    return this.position !== position || entries.some((entry) => positionOf(entry) === position);
  }

  #forget(): void {
    this.#recent = [];
    this.#length = 0;
  }

  #gap(): void {
    this.#forget();
    this.#tellEverything();
  }

  #tellEverything(): void {
    this.#gaps++;
    this.#diagnostics.observe?.({ type: "gap" });
    this.#host.tellEverything();
  }

  /**
   * Called when the engine is back: reports to all nodes if this one has delivered changes alone. Otherwise notifies its own
   * listeners, unless that has just happened: a node that failed meanwhile cannot report what the others have missed.
   */
  async #resume(): Promise<void> {
    const gaps = this.#gaps;
    // If it fails, the feed tries again itself.
    await this.#feed?.catchUp().catch(() => {});
    await this.#begin();
    if (this.#owesGap) await this.#payGap();
    else inBackground(setTimeout(() => this.#gaps === gaps && this.#tellEverything(), settleMs));
  }

  async #payGap(): Promise<void> {
    this.#owesGap = false;
    await this.append({ k: "missed" });
  }

  #payLate(): void {
    this.#paying = undefined;
    if (!this.#owesGap || !this.#cluster.hasJoined) return;
    logRejection(this.#diagnostics.logger, "Announcing a gap", this.#payGap());
  }
}
