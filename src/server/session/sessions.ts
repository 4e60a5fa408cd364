// The sessions of an endpoint: copies of records in the engine. With several nodes, each may drop its copy at any time.
import { ignoreRejection } from "../../base/async/promises.ts";
import { PartKind } from "../../cluster/node/cluster.ts";
import type { SessionEnd } from "../diagnostics/events.ts";
import { HalyardError } from "../../base/errors.ts";
import type { Principal } from "../../protocol/model.ts";
import { isSamePrincipal } from "../../protocol/principal.ts";
import { isRequestId, type JsonObject } from "../../base/wire/message.ts";
import { Copies, type Copy } from "./copies.ts";
import type { SessionCounts } from "./counts.ts";
import type { OwnedSessions } from "./owners.ts";
import { readChange } from "./record.ts";
import { News } from "./news.ts";
import { keptPerIdle, type SessionLimits } from "./limits.ts";
import { SessionRecords, type StoredRecord } from "./records.ts";
import type { LiveSession, SessionHost } from "./live-session.ts";

interface HeldCopy<Live> extends Copy<Live> {
  /** The lease under which the copy was last known to equal the engine's record. */
  lease: number | undefined;
  /** The version of the record in the engine. */
  version: string;
  touchedAt: number;
  /** The period in which this node has counted it for its caller; undefined if another node made it. */
  countedIn: number | undefined;
  /** The save that runs now; the next one waits for it. */
  saving: Promise<boolean> | undefined;
}

/** Counts the sessions of all nodes. A process alone holds every session, and counts those. */
export const sessionCounts: PartKind<typeof SessionCounts> = new PartKind("sessions");

/** How long a node waits after the expiry of a record before it checks whether the record is gone. */
const graceMs = 2000;

export class Sessions<Live extends LiveSession> {
  readonly #host: SessionHost<Live>;
  readonly #limits: SessionLimits;
  readonly #records: SessionRecords;
  /** The sessions of each principal and caller on all nodes; undefined if this process holds every session. */
  readonly #everywhere: SessionCounts | undefined;
  readonly copies: Copies<Live, HeldCopy<Live>>;
  /** Records that are being read, and whether the session has ended meanwhile. */
  readonly #reading = new Set<{ readonly id: string; isOver: boolean }>();
  readonly #news: News;
  readonly #stopHearing: readonly (() => void)[];
  #isUpdating = false;

  constructor(host: SessionHost<Live>, limits: SessionLimits) {
    const { cluster } = host;
    this.#host = host;
    this.#limits = limits;
    const keepMs = limits.idleMs * keptPerIdle;
    const Counts = cluster.part(sessionCounts);
    this.#everywhere = Counts && new Counts(cluster, limits, keepMs);
    // A process alone ends its sessions itself, and its sweeps may come too late for a record that is kept for a second.
    this.#records = new SessionRecords(cluster, this.#everywhere ? keepMs : keepMs + graceMs);
    this.#news = new News(cluster);
    const own = this.#everywhere ? { maxSessionsPerPrincipal: Number.POSITIVE_INFINITY } : {};
    this.copies = new Copies({ ...limits, ...own });
    this.#stopHearing = [
      cluster.on("session", (body, from) => this.#hearChange(body, from)),
      cluster.on("ended", (body) => this.#hearEnd(body)),
      cluster.on("cancel", (body) => this.#hearCancel(body)),
    ];
  }

  get size(): number {
    return this.copies.size;
  }

  get needsSweeping(): boolean {
    return this.copies.size > 0 || this.#news.isWaiting;
  }

  values(): Live[] {
    return this.copies.sessions();
  }

  peek(id: string): Live | undefined {
    return this.copies.get(id)?.session;
  }

  async add(session: Live): Promise<boolean> {
    await this.#host.joined;
    if (this.copies.displacedBy(session) === "none") return false;
    const { id, principal, caller } = session;
    const counts = this.#everywhere;
    let copy: HeldCopy<Live> | undefined;
    let isStored = false;
    try {
      if (counts && !(await counts.begin(caller))) return false;
      const record = session.saved.record();
      isStored = true;
      const version = await this.#records.create(record);
      session.saved.adopt(record);
      const countedIn = await counts?.made(principal, id, this.#ownedBy(session));
      copy = this.#hold(session, version);
      if (copy !== undefined) copy.countedIn = countedIn;
    } finally {
      if (copy === undefined) counts?.remove(caller);
      // No client knows this session yet. If the engine fails, its record expires.
      if (copy === undefined && isStored) ignoreRejection(this.#records.remove(id));
    }
    return copy !== undefined;
  }

  find(
    id: string,
    principal: Principal | undefined,
    caller: string,
  ): Live | undefined | Promise<Live | undefined> {
    const copy = this.copies.get(id);
    if (copy?.lease === undefined || copy.lease !== this.#host.cluster.lease)
      return this.#refresh(id, principal, caller);
    return this.copies.use(copy, principal);
  }

  /** Finds a session as it is now in all processes: without others, as it is here. */
  refresh(
    id: string,
    principal: Principal | undefined,
    caller: string,
  ): Live | undefined | Promise<Live | undefined> {
    const copy = this.copies.get(id);
    if (copy !== undefined && !this.#everywhere) return this.copies.use(copy, principal);
    return this.#refresh(id, principal, caller);
  }

  async #refresh(id: string, principal: Principal | undefined, caller: string): Promise<Live | undefined> {
    await this.#host.joined;
    const copy = await this.#read(id, principal, caller);
    return copy && this.copies.use(copy, principal);
  }

  async save(session: Live): Promise<boolean> {
    const copy = this.copies.get(session.id);
    return copy !== undefined && this.#saveNext(copy);
  }

  async end(session: Live, reason: SessionEnd): Promise<void> {
    const { id, principal } = session;
    // A process alone needs no engine to end a session, so that the next one finds its place free.
    if (!this.#everywhere) await this.#conclude(session, reason);
    await this.#records.remove(id);
    await this.#conclude(session, reason);
    this.#everywhere?.remove(session.saved.opener);
    await this.#tell("ended", { id });
    if (reason === "deleted") this.#everywhere?.disown(principal, id);
  }

  sweep(now: number): void {
    this.copies.useBusy(now, this.#limits.idleMs);
    this.#everywhere?.sweep();
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    const isDone = (): void => void (this.#isUpdating = false);
    // A failure is retried in the next sweep.
    this.#update(now).then(isDone, isDone);
  }

  /**
   * Hands the sessions over: saves pending changes, and leaves the records in the engine. Without other nodes the sessions end.
   */
  async close(): Promise<void> {
    for (const stop of this.#stopHearing) stop();
    try {
      await this.#saveAll();
    } catch (error) {
      this.#host.log.error("Changes of sessions could not be saved before the node stops", { error });
    }
    for (const { session } of this.copies) {
      if (this.#everywhere) this.#drop(session);
      else await this.end(session, "shutdown");
    }
  }

  // Reading and holding copies.

  /** Reads the record, and makes the copy what the record says. A session of another principal is not loaded. */
  async #read(
    id: string,
    principal: Principal | undefined,
    caller: string,
  ): Promise<HeldCopy<Live> | undefined> {
    const { lease } = this.#host.cluster;
    const known = this.copies.get(id)?.session.saved.version;
    const reading = { id, isOver: false };
    this.#reading.add(reading);
    const stored = await this.#records.load(id).finally(() => this.#reading.delete(reading));
    // Another request may have loaded it meanwhile, and another node may have ended it.
    const held = this.copies.get(id);
    if (stored === undefined || reading.isOver) {
      if (held !== undefined) await this.#conclude(held.session, "idle");
      return undefined;
    }
    const copy = held ?? this.#revive(stored, principal, caller);
    if (copy === undefined) return undefined;
    if (held !== undefined) this.#makeRoomFor(held.session, held.session.saved.missing(stored.record));
    this.#adopt(copy, stored, known);
    copy.lease = lease;
    return copy;
  }

  #revive(
    { record, version }: StoredRecord,
    principal: Principal | undefined,
    caller: string,
  ): HeldCopy<Live> | undefined {
    if (!isSamePrincipal(record.principal, principal)) return undefined;
    this.#makeRoomFor({ id: record.id, caller }, record.subscriptions);
    const session = this.#host.revive(record, caller);
    if (session === undefined) {
      const { id, revision } = record;
      this.#host.log.error("The engine has a session of an unknown revision", { session: id, revision });
      return undefined;
    }
    const copy = this.#hold(session, version);
    if (copy !== undefined) return copy;
    session.close();
    throw new HalyardError(
      "BACKPLANE_UNAVAILABLE",
      "All sessions of this node are in use: raise maxSessions, or add a node",
    );
  }

  /** Keeps a copy; a full node drops another one. Returns undefined if none may leave. */
  #hold(session: Live, version: string): HeldCopy<Live> | undefined {
    const displaced = this.copies.displacedBy(session);
    if (displaced === "none") return undefined;
    const now = performance.now();
    const { lease } = this.#host.cluster;
    const times = { seenAt: now, touchedAt: now, countedIn: undefined };
    const copy: HeldCopy<Live> = { session, ...times, lease, version, saving: undefined };
    this.copies.add(copy);
    this.#host.wake();
    if (displaced !== undefined) this.#displace(displaced);
    return copy;
  }

  /**
   * Makes room for subscriptions that another node has accepted, by dropping idle copies of the same caller. Throws if that is not
   * enough: then the caller has more here than remains for all others.
   */
  #makeRoomFor({ id, caller }: Pick<Live, "id" | "caller">, subscriptions: readonly string[]): void {
    if (subscriptions.length === 0) return;
    while (!this.#host.hasRoomFor(caller, subscriptions)) {
      const idle = this.copies.idleOf(caller, id);
      if (idle === undefined) {
        throw new HalyardError(
          "BACKPLANE_UNAVAILABLE",
          "The sessions of this caller have too many subscriptions on this node: try again later",
        );
      }
      this.#drop(idle);
    }
  }

  /**
   * Takes a record over if it is newer. An older one counts too if no message arrived since the node last knew version `known`:
   * then the engine has lost its last changes.
   */
  #adopt(copy: HeldCopy<Live>, { record, version }: StoredRecord, known: number | undefined): void {
    const { saved } = copy.session;
    if (record.version <= saved.version && saved.version !== known) return;
    saved.adopt(record);
    copy.version = version;
  }

  /** A session that leaves this process continues on any node. Without others it ends. */
  #displace(session: Live): void {
    if (this.#everywhere) this.#drop(session);
    else ignoreRejection(this.end(session, "evicted"));
  }

  /** Drops a copy, not the session. */
  #drop(session: Live): void {
    this.copies.delete(session);
    session.close();
  }

  // Saving.

  #saveNext(copy: HeldCopy<Live>): Promise<boolean> {
    const save = (): Promise<boolean> => this.#save(copy);
    const saving = copy.saving === undefined ? save() : copy.saving.then(save, save);
    copy.saving = saving;
    const isDone = (): void => {
      if (copy.saving === saving) copy.saving = undefined;
    };
    saving.then(isDone, isDone);
    return saving;
  }

  async #save(copy: HeldCopy<Live>): Promise<boolean> {
    const { session } = copy;
    const change = session.saved.pending();
    if (change === undefined) return true;
    const known = session.saved.version;
    const stored = await this.#records.change(session.saved.record(), change, copy.version);
    if (stored === undefined) {
      await this.#conclude(session, "idle");
      return false;
    }
    session.saved.settle(change);
    this.#adopt(copy, stored, known);
    copy.touchedAt = performance.now();
    const { record, version } = stored;
    await this.#tell("session", { id: session.id, change, to: record.version, version });
    return true;
  }

  async #saveAll(): Promise<void> {
    const changed = [...this.copies].filter(({ session: { saved } }) => saved.hasChanged || saved.isPending);
    for (const copy of changed) await this.#saveNext(copy);
  }

  /** Updates the engine step by step until one fails, so that a recovering engine is not overloaded. */
  async #update(now: number): Promise<void> {
    await this.#news.tellWaiting();
    await this.#saveAll();
    if (!this.#everywhere) await this.#endIdle(now);
    await this.#touch(now);
    const unusedMs = this.#limits.idleMs * keptPerIdle + graceMs;
    const unused = [...this.copies].filter(({ touchedAt }) => now - touchedAt >= unusedMs);
    for (const { session } of unused) {
      if ((await this.#records.load(session.id)) === undefined) await this.#conclude(session, "idle");
      // Another node uses the session.
      else this.#drop(session);
    }
  }

  /** Without other nodes, a session that is idle here is idle everywhere. */
  async #endIdle(now: number): Promise<void> {
    const idle = [...this.copies].filter(({ seenAt }) => now - seenAt > this.#limits.idleMs);
    for (const { session } of idle) await this.end(session, "idle");
  }

  async #touch(now: number): Promise<void> {
    const { idleMs } = this.#limits;
    const used = [...this.copies].filter(
      ({ seenAt, touchedAt }) => seenAt > touchedAt && now - touchedAt >= idleMs / 4,
    );
    if (used.length === 0) return;
    const counts = this.#everywhere;
    await this.#records.touch(
      used.map(({ session }) => session.id),
      counts?.keysOf(used.map(({ session }) => session.principal)) ?? [],
    );
    for (const copy of used) {
      copy.touchedAt = now;
      if (counts && copy.countedIn !== undefined)
        copy.countedIn = counts.keep(copy.session.saved.opener, copy.countedIn);
    }
  }

  // Ending.

  /** Drops the copy of a session that has ended everywhere. One node calls `onSessionClosed`. */
  async #conclude(session: Live, reason: SessionEnd): Promise<void> {
    if (!this.copies.delete(session)) return;
    const isFirst = !this.#everywhere || (await this.#records.claimEnd(session.id, reason).catch(() => true));
    session.close(isFirst ? reason : undefined);
  }

  /** How {@link Owners} reaches other sessions of the principal. */
  #ownedBy({ principal, caller }: Live): OwnedSessions {
    return {
      exists: async (id) => (await this.#records.load(id)) !== undefined,
      end: async (id) => {
        const copy = await this.#read(id, principal, caller);
        if (copy !== undefined) await this.end(copy.session, "evicted");
      },
    };
  }

  // Messages between nodes.

  /** Tells the other nodes, now or when the engine can be reached again. */
  async #tell(...news: Parameters<News["tell"]>): Promise<void> {
    await this.#news.tell(...news);
    if (this.#news.isWaiting) this.#host.wake();
  }

  /** Applies a change that leads from the known version to the next. After any other change, reads the record. */
  #hearChange({ id, change: given, to, version }: JsonObject, from: string): void {
    const copy = typeof id === "string" ? this.copies.get(id) : undefined;
    if (copy === undefined || from === this.#host.cluster.node) return;
    const { session } = copy;
    const { saved, principal, caller } = session;
    if (typeof to === "number" && to <= saved.version) return;
    const change = readChange(given);
    const isNext = change !== undefined && to === saved.version + 1 && typeof version === "string";
    try {
      if (isNext) this.#makeRoomFor(session, change.added);
    } catch {
      // If its client returns to this node, the session is read again like an unknown one.
      return this.#drop(session);
    }
    if (isNext) {
      saved.follow(change);
      copy.version = version;
    } else {
      copy.lease = undefined;
      ignoreRejection(this.#read(session.id, principal, caller));
    }
  }

  #hearEnd({ id }: JsonObject): void {
    for (const reading of this.#reading) if (reading.id === id) reading.isOver = true;
    const copy = typeof id === "string" ? this.copies.get(id) : undefined;
    if (copy !== undefined) this.#drop(copy.session);
  }

  #hearCancel({ session, id, reason }: JsonObject): void {
    if (typeof session !== "string" || !isRequestId(id) || typeof reason !== "string") return;
    this.copies.get(session)?.session.cancel(id, reason);
  }
}
