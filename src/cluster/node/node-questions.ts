// Questions to other nodes: one that every node answers with yes or no, and one to a single node.
import { HalyardError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Bus, BusHandler } from "./bus.ts";
import type { ClusterNode } from "./presence.ts";

/** How long nodes may take to answer each other, in milliseconds. */
const answerMs = 1000;

/** The parts of the cluster that questions need. */
interface Asked {
  readonly bus: Bus;
  on(kind: string, handler: BusHandler): () => void;
  nodes(): ClusterNode[];
  hears(node: string): boolean;
}

export class PendingQuestions {
  readonly #cluster: Asked;

  constructor(cluster: Asked) {
    this.#cluster = cluster;
  }

  /** Answers `kind` of {@link PendingQuestions.askAll} on this node. */
  answer(kind: string, isYes: (body: JsonObject) => boolean | Promise<boolean>): void {
    this.#cluster.on(kind, async (body) => ({ yes: await isYes(body) }));
  }

  /**
   * Resolves with `yes` as soon as another node answers yes, and with `silence` if a node that this one hears does not answer in
   * time.
   */
  async askAll(kind: string, body: JsonObject): Promise<"yes" | "no" | "silence"> {
    const cluster = this.#cluster;
    const silent = new Set(cluster.nodes().flatMap(({ id, isSelf }) => (isSelf ? [] : [id])));
    if (silent.size === 0) return "no";
    let isYes = false;
    await cluster.bus.requestAll(kind, body, answerMs, ({ yes }, from) => {
      silent.delete(from);
      isYes ||= yes === true;
      return isYes || silent.size === 0;
    });
    if (isYes) return "yes";
    return [...silent].some((node) => cluster.hears(node)) ? "silence" : "no";
  }

  /** Sends a message to one node and resolves with its answer, or with undefined if that node is gone. Rejects if it does not answer. */
  async ask(node: string, kind: string, body: JsonObject): Promise<JsonObject | undefined> {
    const answer = await this.#cluster.bus.request(node, kind, body, answerMs);
    if (answer !== undefined || !this.#cluster.hears(node)) return answer;
    const problem = `Node ${node} did not respond within ${answerMs} ms`;
    throw new HalyardError("BACKPLANE_UNAVAILABLE", `${problem}: try again later`);
  }
}
