// Asks the other nodes of the cluster over the bus, with a deadline, and answers their questions.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Ask, NodeRow } from "../answers.ts";
import { cut } from "../sampling/peers.ts";
import { isFigures, type NodeFigures } from "../views/figures.ts";
import type { NodePart } from "../views/view.ts";
import { KnownNodes } from "./known-nodes.ts";

/** Milliseconds that nodes have to answer. */
const deadlineMs = 700;

/** Milliseconds that the clocks of nodes may differ and count as the same. */
const sameClockMs = 100;

/** Characters of the name of another node. */
const maxName = 100;

/** Set in every message. Nodes whose dashboards have another format do not understand each other. */
const format = 1;

const kind = "dashboard";

/** What one node answers. */
export interface OwnAnswer {
  readonly name: string;
  readonly figures: NodeFigures;
  readonly part: object;
}

/** Answers a question on this node; undefined if there is no such question. */
export type AnswerHere = (
  ask: string,
  question: JsonObject,
) => OwnAnswer | undefined | Promise<OwnAnswer | undefined>;

export class OtherNodes {
  readonly #cluster: Cluster;
  readonly #known = new KnownNodes();
  readonly #stopHearing: readonly (() => void)[];

  constructor(cluster: Cluster, name: () => string, answerHere: AnswerHere) {
    this.#cluster = cluster;
    const heard = (info: JsonObject, from: string): void => {
      if (from !== cluster.node) this.#known.introduced(from, nameIn(info));
    };
    this.#stopHearing = [
      introduceTo(cluster, name),
      cluster.on("beat", heard),
      cluster.on("hello", heard),
      cluster.on(kind, async (body, from) => {
        const { ask, question } = body;
        if (from === cluster.node || body["format"] !== format) return undefined;
        if (typeof ask !== "string" || !isObject(question)) return undefined;
        const answer = await answerHere(ask, question);
        return answer && { format, ...answer };
      }),
    ];
  }

  /** The answers of the nodes that answer in time. */
  async ask(ask: Ask, question: JsonObject): Promise<NodePart<object>[]> {
    const parts: NodePart<object>[] = [];
    if (!this.#cluster.hasJoined) return parts;
    const others = this.#cluster.nodes().filter(({ id, isSelf }) => !isSelf && this.#known.hasDashboard(id));
    const missing = new Set(others.map(({ id }) => id));
    // A node that was silent is asked too, but its answer is not waited for until it answers again.
    const expected = new Set([...missing].filter((id) => this.#known.isExpected(id)));
    if (missing.size === 0) return parts;
    const askedAt = performance.now();
    await new Promise<void>((resolve) => {
      const isOver = (): void => {
        for (const id of missing) this.#known.missed(id);
        resolve();
      };
      const take = (answer: JsonObject, from: string): boolean => {
        // Each node that was asked counts once, even if others answer too.
        if (!missing.delete(from)) return missing.size === 0;
        const part = this.#read(answer, from, performance.now() - askedAt);
        if (part === undefined) this.#known.missed(from);
        else parts.push(part);
        if (expected.delete(from) && expected.size === 0) resolve();
        return missing.size === 0;
      };
      this.#cluster.bus.requestAll(kind, { format, ask, question }, deadlineMs, take).then(isOver, isOver);
      if (expected.size === 0) resolve();
    });
    return [...parts];
  }

  rows(): NodeRow[] {
    return this.#known.rows(this.#cluster.nodes());
  }

  /** The id of this node. */
  get self(): string {
    return this.#cluster.node;
  }

  /** Stops answering, and tells the other nodes. */
  close(): void {
    for (const stop of this.#stopHearing) stop();
  }

  #read(answer: JsonObject, from: string, roundTripMs: number): NodePart<object> | undefined {
    const { name, figures, part } = answer;
    if (answer["format"] !== format || typeof name !== "string" || !isFigures(figures) || !isObject(part))
      return undefined;
    const node = cut(name, maxName);
    this.#known.answered(from, node, figures, roundTripMs);
    return { node, figures, aheadMs: this.#aheadMs(from), part };
  }

  /** Small differences are caused by the time that messages take, and must not move the times on the page. */
  #aheadMs(node: string): number {
    const aheadMs = this.#cluster.clockOf(node) - Date.now();
    return Math.abs(aheadMs) < sameClockMs ? 0 : aheadMs;
  }
}

/**
 * The names that each cluster introduces. They are kept here, because a dashboard may open and close often and an introduction
 * cannot be removed.
 */
const introduced = new WeakMap<Cluster, Set<() => string>>();

/**
 * Tells the other nodes that this one has a dashboard, until you call the returned function. Nodes do not wait for answers of one
 * without.
 */
function introduceTo(cluster: Cluster, name: () => string): () => void {
  const known = introduced.get(cluster);
  const names = known ?? new Set();
  if (known === undefined) {
    introduced.set(cluster, names);
    cluster.introduce(() => {
      const [first] = names;
      return first === undefined ? {} : { [kind]: { format, name: first() } };
    });
  }
  names.add(name);
  return () => void names.delete(name);
}

/** The name in what a node tells about itself, if it has a dashboard that this one understands. */
function nameIn(info: JsonObject): string | undefined {
  const about = info[kind];
  if (!isObject(about) || about["format"] !== format) return undefined;
  return typeof about["name"] === "string" ? cut(about["name"], maxName) : undefined;
}
