// Which nodes are in the cluster, and whether this one still hears the others: each node sends a beat through the bus, and
// receives its own.
import type { JsonObject } from "../../base/wire/message.ts";

/** A node of the cluster. */
export interface ClusterNode {
  readonly id: string;
  /** Whether it is the node that you ask. */
  readonly isSelf: boolean;
  /** The version of its server. */
  readonly version: string;
}

/** How many beats a node sends in `leaseMs`. */
export const beatsPerLease = 5;

/** Nodes that have left whose clocks are remembered. */
const maxClocks = 1000;

interface Heard {
  readonly version: string;
  /** The number of own beats that had come back when the node was last heard. */
  at: number;
}

/** Called when a node joins or leaves. */
export type PresenceWatch = (node: string, state: "joined" | "left") => void;

/**
 * Other nodes time out by own beats that came back, not by time: while this node hears nothing, it does not take the others for
 * gone.
 */
export class Presence {
  readonly #self: string;
  readonly #leaseMs: number;
  readonly #watch: PresenceWatch;
  readonly #nodes = new Map<string, Heard>();
  /** How many milliseconds the wall clocks of nodes are ahead of this one's, including nodes that have left. */
  readonly #ahead = new Map<string, number>();
  #beats = 0;
  #isCutOff = false;
  #lease = 0;
  #heardSelfAt = Number.NEGATIVE_INFINITY;

  constructor(self: string, leaseMs: number, watch: PresenceWatch) {
    this.#self = self;
    this.#leaseMs = leaseMs;
    this.#watch = watch;
  }

  /** Whether an own beat that was sent within `leaseMs` has come back. */
  get isLeased(): boolean {
    return performance.now() - this.#heardSelfAt < this.#leaseMs;
  }

  /** The number of the lease, another one each time messages may have been lost; undefined without a lease. */
  get lease(): number | undefined {
    return this.isLeased ? this.#lease : undefined;
  }

  /** Whether the engine can be reached. An engine that is only silent is noticed when the lease ends. */
  get isReachable(): boolean {
    return this.isLeased && !this.#isCutOff;
  }

  /** Notes that the engine cannot be reached, until {@link missed}. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  /** Starts another lease now that the engine can be reached again, because messages may have been lost. */
  missed(): void {
    this.#isCutOff = false;
    this.#lease++;
  }

  has(node: string): boolean {
    return this.#nodes.has(node);
  }

  list(): ClusterNode[] {
    return [...this.#nodes].map(([id, { version }]) => ({ id, version, isSelf: id === this.#self }));
  }

  /** The time on the wall clock of a node; on that of this one, if the other was never heard. */
  clockOf(node: string): number {
    return Date.now() + (this.#ahead.get(node) ?? 0);
  }

  /** Handles a beat. `sentAt` is the time on the monotonic clock of its sender, `clock` that on its wall clock. */
  heard(node: string, info: JsonObject): void {
    const known = this.#nodes.get(node);
    if (known !== undefined) known.at = this.#beats;
    else {
      this.#nodes.set(node, { version: String(info["version"] ?? ""), at: this.#beats });
      this.#watch(node, "joined");
    }
    if (typeof info["clock"] === "number") this.#setClock(node, info["clock"]);
    if (node !== this.#self || typeof info["sentAt"] !== "number") return;
    if (!this.isLeased) this.missed();
    this.#heardSelfAt = Math.max(this.#heardSelfAt, info["sentAt"]);
    this.#beats++;
    // One beat more than a lease has, because beats are not exactly periodic.
    for (const [other, { at }] of this.#nodes) if (this.#beats - at > beatsPerLease + 1) this.left(other);
  }

  left(node: string): void {
    if (node !== this.#self && this.#nodes.delete(node)) this.#watch(node, "left");
  }

  #setClock(node: string, clock: number): void {
    this.#ahead.delete(node);
    if (node !== this.#self) this.#ahead.set(node, clock - Date.now());
    for (const known of this.#ahead.keys()) {
      if (this.#ahead.size <= maxClocks + this.#nodes.size) break;
      if (!this.#nodes.has(known)) this.#ahead.delete(known);
    }
  }
}
