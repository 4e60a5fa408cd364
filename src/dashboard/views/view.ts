// Common to all views: each node answers a question, and the node that was asked merges the answers.
import type { Answers, Ask, Questions } from "../answers.ts";
import type { NodeFigures } from "./figures.ts";
import type { ServedNode } from "./served-node.ts";

/** The part of an answer that one node gave. */
export interface NodePart<Part> {
  /** The name of the node. */
  readonly node: string;
  readonly figures: NodeFigures;
  /** Milliseconds that its wall clock is ahead of this node's. */
  readonly aheadMs: number;
  readonly part: Part;
}

/** A question that this node answers alone. */
export interface LocalView<Name extends Ask> {
  readonly isLocal: true;
  answer(node: ServedNode, question: Questions[Name]): Answers[Name];
}

/** A question for all nodes. `Part` is JSON. */
export interface SharedView<Name extends Ask, Part extends object> {
  readonly isLocal?: false;
  answer(node: ServedNode, question: Questions[Name]): Part | Promise<Part>;
  /** `parts` has at least one: that of the node that was asked, first. */
  merge(
    parts: readonly NodePart<Part>[],
    question: Questions[Name],
    node: ServedNode,
  ): Omit<Answers[Name], "nodes">;
}

export type View<Name extends Ask = Ask> = LocalView<Name> | SharedView<Name, object>;
