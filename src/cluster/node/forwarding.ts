// Passes on messages that a client sent to this node but that another one needs. Messages of clients reach the bus only through
// this.
import { HalyardError } from "../../base/errors.ts";
import { Shares } from "../../base/limits/shares.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Bus, BusHandler } from "./bus.ts";

/** Characters that may be in transit from this node to others. One caller may have as many as then remain free. */
const maxOnWay = 16 * 1024 * 1024;

/** Characters of a message that is sent to nodes without being requested, so that any number of nodes can read it. */
const maxTold = 8192;

/** How long the other node may take for each of its answers, in milliseconds. */
const answerMs = 2000;

/** A message that belongs to another node. */
export interface Passed {
  /** The client that sent it, as limits count it. */
  readonly caller: string;
  readonly node: string;
  readonly kind: string;
  /** The short key by which that node recognises the message. */
  readonly key: JsonObject;
  readonly body: JsonObject;
}

/**
 * The outcome: the answer of the other node; or that the message was not passed on, because the node is gone or does not answer;
 * or that the node may have it but has not confirmed it.
 */
export type PassOutcome =
  | { readonly state: "answered"; readonly answer: JsonObject }
  | { readonly state: "gone" | "silent" | "unconfirmed" };

/** How a node handles what others pass to it. */
export interface Taker {
  /**
   * Whether the node wants the body: `"yes"`, or the answer without it, or undefined if it belongs to another taker of this kind.
   */
  expects(key: JsonObject): "yes" | JsonObject | undefined;
  /** Handles the body. */
  take: BusHandler;
}

/** The parts of the cluster that forwarding needs. */
interface Ways {
  readonly bus: Bus;
  on(kind: string, handler: BusHandler): () => void;
  hears(node: string): boolean;
}

/** {@link Forwards} through a {@link Bus}. */
export class Forwarding {
  readonly #cluster: Ways;
  readonly #onWay = new Shares(maxOnWay);

  constructor(cluster: Ways) {
    this.#cluster = cluster;
  }

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

  async pass({ caller, node, kind, key, body }: Passed): Promise<PassOutcome> {
    const { bus } = this.#cluster;
    const expected = await this.#count(caller, key, () => bus.request(node, `${kind}?`, key, answerMs));
    if (expected === undefined) return { state: this.#cluster.hears(node) ? "silent" : "gone" };
    const { instead } = expected;
    if (instead !== undefined) return { state: "answered", answer: instead as JsonObject };
    // If the engine fails now, it is unknown whether the node receives the body.
    const answer = await this.#count(caller, body, () =>
      bus.request(node, kind, body, answerMs).catch(() => undefined),
    );
    return answer === undefined ? { state: "unconfirmed" } : { state: "answered", answer };
  }

  async tell(caller: string, to: string | "all", kind: string, body: JsonObject): Promise<void> {
    if (lengthOf(body) > maxTold) throw unavailable("It is too long to be told to other nodes");
    await this.#count(caller, body, () => this.#cluster.bus.tell(kind, body, to));
  }

  /** Counts a message for its caller while it is in transit. A message that is alone is accepted up to the limit of all. */
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
