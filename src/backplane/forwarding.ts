// Passes on what clients send to this node and another one needs. Nothing of a client reaches the bus in another way.
import { HalyardError } from "../errors.ts";
import { Shares } from "../limits/shares.ts";
import type { JsonObject } from "../wire/message.ts";
import type { Bus, BusHandler } from "./bus.ts";

/** Characters that may be on their way from this node to others; a caller may have as many as then stay free. */
const maxOnWay = 16 * 1024 * 1024;

/** Characters of what is told without being asked for, so that any number of nodes can read it. */
const maxTold = 8192;

/** Milliseconds that the other node has for each of its answers. */
const answerMs = 2000;

/** Something that belongs to another node. */
export interface Passed {
  /** The client that sent it, as limits count it. */
  readonly caller: string;
  readonly node: string;
  readonly kind: string;
  /** What that node knows it by: short, however long the body is. */
  readonly key: JsonObject;
  readonly body: JsonObject;
}

/**
 * The outcome: the answer of the other node; or that it was not passed on, because the node is gone or does not answer; or that
 * the node may have it and has not confirmed it.
 */
export type Outcome =
  | { readonly state: "answered"; readonly answer: JsonObject }
  | { readonly state: "gone" | "silent" | "unconfirmed" };

/** How a node takes what others pass to it. */
export interface Taker {
  /** Whether the body may come: `"yes"`, or the answer in its place, or undefined if it belongs to another taker of this kind. */
  expects(key: JsonObject): "yes" | JsonObject | undefined;
  /** Takes the body. */
  take: BusHandler;
}

/** What forwarding needs of the cluster. */
interface Ways {
  readonly bus: Bus;
  on(kind: string, handler: BusHandler): () => void;
  hears(node: string): boolean;
}

export class Forwarding {
  readonly #cluster: Ways;
  readonly #onWay = new Shares(maxOnWay);

  constructor(cluster: Ways) {
    this.#cluster = cluster;
  }

  /** Takes what other nodes pass on, until you call the returned function. */
  onPassed(kind: string, { expects, take }: Taker): () => void {
    const stops = [
      this.#cluster.on(`${kind}?`, (key) => {
        const expected = expects(key);
        return expected === "yes" ? { isExpected: true } : expected && { instead: expected };
      }),
      this.#cluster.on(kind, take),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /**
   * Passes something to the node that it belongs to: first the key, and the body only if that node expects it. Rejects with
   * `BACKPLANE_UNAVAILABLE` if it was not passed on because the engine fails or the caller has too much on its way.
   */
  async pass({ caller, node, kind, key, body }: Passed): Promise<Outcome> {
    const { bus } = this.#cluster;
    const expected = await this.#count(caller, key, () => bus.request(node, `${kind}?`, key, answerMs));
    if (expected === undefined) return { state: this.#cluster.hears(node) ? "silent" : "gone" };
    const { instead } = expected;
    if (instead !== undefined) return { state: "answered", answer: instead as JsonObject };
    // If the engine fails now, it is unknown whether the node gets it.
    const answer = await this.#count(caller, body, () =>
      bus.request(node, kind, body, answerMs).catch(() => undefined),
    );
    return answer === undefined ? { state: "unconfirmed" } : { state: "answered", answer };
  }

  /** Tells a node, or all, something short. Resolves when the engine has it; rejects as {@link Forwarding.pass} does. */
  async tell(caller: string, to: string | "all", kind: string, body: JsonObject): Promise<void> {
    if (lengthOf(body) > maxTold) throw unavailable("It is too long to be told to other nodes");
    await this.#count(caller, body, () => this.#cluster.bus.tell(kind, body, to));
  }

  /** Counts a message for its caller while it is on its way. One that is alone is accepted up to the limit of all. */
  async #count<Result>(caller: string, body: JsonObject, send: () => Promise<Result>): Promise<Result> {
    const length = lengthOf(body);
    const isAlone = this.#onWay.total === 0 && length <= maxOnWay;
    if (!isAlone && !this.#onWay.fits(caller, length))
      throw unavailable("Too much is on its way to other nodes");
    this.#onWay.count(caller, length);
    try {
      return await send();
    } finally {
      this.#onWay.count(caller, -length);
    }
  }
}

function lengthOf(body: JsonObject): number {
  return JSON.stringify(body).length;
}

function unavailable(problem: string): HalyardError {
  return new HalyardError("BACKPLANE_UNAVAILABLE", `${problem}: try again later`);
}
