// Asks the other nodes of the cluster through the window, with a deadline, and answers their questions.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { NodeView, ServerWindow } from "../../window/index.ts";
import type { Ask, NodeRow } from "../answers.ts";
import { cut } from "../sampling/texts.ts";
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
/** Nodes that are asked. */
const maxNodes = 1000;

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
  readonly #window: ServerWindow;
  readonly #known = new KnownNodes();
  readonly #stops: readonly (() => void)[];

  constructor(window: ServerWindow, name: () => string, answerHere: AnswerHere) {
    const { nodes } = window;
    this.#window = window;
    this.#stops = [
      nodes.introduce(kind, () => ({ format, name: name() })),
      nodes.onIntroduced(kind, (about, from) => this.#known.introduced(from, nameIn(about))),
      nodes.answer(kind, async (body) => {
        const { ask, question } = body;
        if (body["format"] !== format || typeof ask !== "string" || !isObject(question)) return undefined;
        const answer = await answerHere(ask, question);
        return answer && { format, ...answer };
      }),
    ];
  }

  /** The answers of the nodes that answer in time. */
  async ask(ask: Ask, question: JsonObject): Promise<NodePart<object>[]> {
    const parts: NodePart<object>[] = [];
    const { nodes } = this.#window;
    if (!nodes.hasJoined) return parts;
    const others = this.#heard().filter(({ id, isSelf }) => !isSelf && this.#known.hasDashboard(id));
    const missing = new Map(others.map((node) => [node.id, node]));
    // A node that was silent is asked too, but its answer is not waited for until it answers again.
    const expected = new Set([...missing.keys()].filter((id) => this.#known.isExpected(id)));
    if (missing.size === 0) return parts;
    const askedAt = performance.now();
    await new Promise<void>((resolve) => {
      const isOver = (): void => {
        for (const id of missing.keys()) this.#known.missed(id);
        resolve();
      };
      const take = (answer: JsonObject, from: string): boolean => {
        const node = missing.get(from);
        // Each node that was asked counts once, even if others answer too.
        if (node === undefined) return missing.size === 0;
        missing.delete(from);
        const part = this.#read(answer, node, performance.now() - askedAt);
        if (part === undefined) this.#known.missed(from);
        else parts.push(part);
        if (expected.delete(from) && expected.size === 0) resolve();
        return missing.size === 0;
      };
      nodes.ask(kind, { format, ask, question }, deadlineMs, take).then(isOver, isOver);
      if (expected.size === 0) resolve();
    });
    return [...parts];
  }

  rows(): NodeRow[] {
    return this.#known.rows(this.#heard());
  }

  /** The id of this node. */
  get self(): string {
    return this.#window.nodes.self;
  }

  /** Stops answering, and tells the other nodes. */
  close(): void {
    for (const stop of this.#stops) stop();
  }

  #heard(): readonly NodeView[] {
    return this.#window.snapshot("nodes", { limit: maxNodes }).rows;
  }

  #read(answer: JsonObject, { id, aheadMs }: NodeView, roundTripMs: number): NodePart<object> | undefined {
    const { name, figures, part } = answer;
    if (answer["format"] !== format || typeof name !== "string" || !isFigures(figures) || !isObject(part))
      return undefined;
    const node = cut(name, maxName);
    this.#known.answered(id, node, figures, roundTripMs);
    // Small differences are caused by the time that messages take, and must not move the times on the page.
    return { node, figures, aheadMs: Math.abs(aheadMs) < sameClockMs ? 0 : aheadMs, part };
  }
}

/** The name in what a node tells about itself, if it has a dashboard that this one understands. */
function nameIn(about: JsonObject | undefined): string | undefined {
  if (about === undefined || about["format"] !== format) return undefined;
  return typeof about["name"] === "string" ? cut(about["name"], maxName) : undefined;
}
