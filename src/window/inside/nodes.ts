// Messages between the windows of the nodes of a cluster: questions, their answers, and what nodes tell about themselves.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/** Answers a question of another node; undefined if it has no answer. The question may be of another version: check every member. */
export type NodeAnswerer = (
  question: JsonObject,
  from: string,
) => JsonObject | undefined | Promise<JsonObject | undefined>;

/** Called with each answer and the id of its node. Returns whether the answers are enough. */
export type AnswerTaker = (answer: JsonObject, from: string) => boolean;

/** Called with what another node tells about itself; undefined if it tells nothing of the kind. */
export type IntroductionTaker = (about: JsonObject | undefined, from: string) => void;

/**
 * The other nodes of the cluster. A kind names the questions, or the introductions, of one tool: choose one of your own. Without a
 * cluster, there are no nodes to ask, and no questions arrive.
 */
export interface WindowNodes {
  /** The id of this node; empty for a process on its own. */
  readonly self: string;
  /** Whether there can be no other nodes. */
  readonly isAlone: boolean;
  /** Whether this node is in the cluster now. */
  readonly hasJoined: boolean;
  /** Asks all other nodes. Resolves when the answers are enough, or after `timeMs`. Rejects if the engine fails. */
  ask(kind: string, question: JsonObject, timeMs: number, take: AnswerTaker): Promise<void>;
  /** Answers questions of other nodes, until you call the returned function. */
  answer(kind: string, answerer: NodeAnswerer): () => void;
  /** Tells other nodes about this one at intervals, until you call the returned function. */
  introduce(kind: string, about: () => JsonObject): () => void;
  /** Calls `take` when another node tells about itself, until you call the returned function. */
  onIntroduced(kind: string, take: IntroductionTaker): () => void;
}

/** What each kind introduces, the first one while it is there. */
type Introductions = Map<string, Set<() => JsonObject>>;

export class ClusterNodes implements WindowNodes {
  readonly #cluster: Cluster;
  /** Kept until the process ends, because an introduction to the cluster cannot be removed. */
  readonly #introductions: Introductions = new Map();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  get self(): string {
    return this.#cluster.node;
  }

  get isAlone(): boolean {
    return this.#cluster.isAlone;
  }

  get hasJoined(): boolean {
    return this.#cluster.hasJoined;
  }

  async ask(kind: string, question: JsonObject, timeMs: number, take: AnswerTaker): Promise<void> {
    const cluster = this.#cluster;
    if (!cluster.hasJoined) return;
    await cluster.bus.requestAll(onBus(kind), question, timeMs, (answer, from) =>
      from === cluster.node ? false : take(answer, from),
    );
  }

  answer(kind: string, answerer: NodeAnswerer): () => void {
    return this.#cluster.on(onBus(kind), (question, from) =>
      from === this.#cluster.node ? undefined : answerer(question, from),
    );
  }

  introduce(kind: string, about: () => JsonObject): () => void {
    const member = onBus(kind);
    const known = this.#introductions.get(member);
    const abouts = known ?? new Set();
    if (known === undefined) {
      this.#introductions.set(member, abouts);
      this.#cluster.introduce(() => {
        const [first] = abouts;
        return first === undefined ? {} : { [member]: first() };
      });
    }
    abouts.add(about);
    return () => void abouts.delete(about);
  }

  onIntroduced(kind: string, take: IntroductionTaker): () => void {
    const heard = (info: JsonObject, from: string): void => {
      if (from === this.#cluster.node) return;
      const about = info[onBus(kind)];
      take(isObject(about) ? about : undefined, from);
    };
    const stops = [this.#cluster.on("beat", heard), this.#cluster.on("hello", heard)];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** The kinds of the cluster itself have no colon. */
function onBus(kind: string): string {
  return `window:${kind}`;
}
