// Answers the page's questions: on this node, and in a cluster with what all other nodes answer.
import type { JsonObject } from "../../base/wire/message.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import type { Ask, NodeRow } from "../answers.ts";
import { figuresOf } from "../views/figures.ts";
import { views } from "../views/index.ts";
import type { ServedNode } from "../views/served-node.ts";
import type { NodePart, View } from "../views/view.ts";
import { OtherNodes, type OwnAnswer } from "./other-nodes.ts";

/** The id of the only node of a server without a cluster. */
const onlyNode = "self";

export class Answering {
  readonly #node: ServedNode;
  readonly #others: OtherNodes;

  constructor(node: ServedNode) {
    this.#node = node;
    this.#others = new OtherNodes(
      node.window,
      () => node.options.name,
      (ask, question) => {
        const view = viewOf(ask);
        return view === undefined || view.isLocal ? undefined : this.#answerHere(view, question);
      },
    );
  }

  /** Answers a question whose members are checked. */
  async answer(ask: Ask, question: object): Promise<object> {
    const view = viewOf(ask);
    if (view === undefined) throw new TypeError(`There is no question ${ask}`);
    if (view.isLocal) return view.answer(this.#node, question as never);
    const asked = question as JsonObject;
    const [own, others] = await Promise.all([this.#answerHere(view, asked), this.#others.ask(ask, asked)]);
    const { name: node, figures, part } = own;
    const self = { node, figures, aheadMs: 0, part };
    const merge = (parts: readonly NodePart<object>[]): object =>
      view.merge([self, ...parts], question as never, this.#node);
    return { ...this.#merged(merge, others), nodes: this.#rows(own) };
  }

  /** Leaves out what cannot be merged: a node of another version may answer with something else. */
  #merged(
    merge: (parts: readonly NodePart<object>[]) => object,
    others: readonly NodePart<object>[],
  ): object {
    try {
      return merge(others);
    } catch {
      const understood = others.filter((other) => isMergedBy(merge, other));
      const unknown = others.filter((other) => !understood.includes(other)).map(({ node }) => node);
      const log = RateLimitedLog.of(this.#node.window.logger);
      log.warn(`The dashboard does not understand the answer of ${unknown.join(", ")}`);
      return merge(understood);
    }
  }

  /** Stops answering other nodes, sampling and following clients. */
  close(): void {
    this.#others.close();
    this.#node.sampling.end();
    this.#node.clients.close();
  }

  async #answerHere(view: View, question: JsonObject): Promise<OwnAnswer> {
    const node = this.#node;
    return {
      name: node.options.name,
      figures: figuresOf(node),
      part: await view.answer(node, question as never),
    };
  }

  /** The nodes as this one sees them, itself first. */
  #rows({ name, figures }: OwnAnswer): NodeRow[] {
    const id = this.#others.self || onlyNode;
    const self = { id, name, isSelf: true, state: "answers", silentMs: 0, roundTripMs: undefined } as const;
    return [{ ...self, ...figures }, ...this.#others.rows()];
  }
}

function isMergedBy(merge: (parts: readonly NodePart<object>[]) => object, part: NodePart<object>): boolean {
  try {
    merge([part]);
    return true;
  } catch {
    return false;
  }
}

function viewOf(ask: string): View | undefined {
  return Object.hasOwn(views, ask) ? (views[ask as Ask] as View) : undefined;
}
