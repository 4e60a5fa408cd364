// The nodes that this one has seen, by id, so that a silent or killed one is shown and recognised when it comes back.
import type { NodeView } from "../../window/index.ts";
import type { NodeRow } from "../answers.ts";
import type { NodeFigures } from "../views/figures.ts";

/** Milliseconds that a node is shown after it has left. */
const rememberedMs = 10 * 60_000;
/** Nodes that have left and are remembered. */
const maxGone = 100;

/** What is known of another node. */
interface KnownNode {
  /** Undefined if it has no dashboard. */
  name: string | undefined;
  version: string;
  figures: NodeFigures | undefined;
  roundTripMs: number | undefined;
  /** When it answered last; before the first time, when it was first heard. */
  answeredAt: number;
  isSilent: boolean;
}

export class KnownNodes {
  readonly #nodes = new Map<string, KnownNode>();

  /** Takes the name that a node introduces itself with; undefined if it has no dashboard. */
  introduced(id: string, name: string | undefined): void {
    const known = this.#of(id);
    known.name = name;
  }

  answered(id: string, name: string, figures: NodeFigures, roundTripMs: number): void {
    const answeredAt = performance.now();
    Object.assign(this.#of(id), { name, figures, roundTripMs, answeredAt, isSilent: false });
  }

  /** Called when the node did not answer in time. */
  missed(id: string): void {
    this.#of(id).isSilent = true;
  }

  /** Whether to wait for an answer of this node. A node that was silent answers late at first. */
  isExpected(id: string): boolean {
    const known = this.#nodes.get(id);
    return known?.name !== undefined && !known.isSilent;
  }

  hasDashboard(id: string): boolean {
    return this.#nodes.get(id)?.name !== undefined;
  }

  /** The rows of the other nodes, by name. `heard` are those in the cluster now. */
  rows(heard: readonly NodeView[]): NodeRow[] {
    const others = heard.filter(({ isSelf }) => !isSelf);
    for (const { id, version } of others) this.#of(id).version = version;
    this.#forget(heard);
    const ids = new Set(others.map(({ id }) => id));
    const rows = [...this.#nodes].map(([id, known]) => rowOf(id, known, ids.has(id)));
    return rows.toSorted((one, other) => compare(one.name, other.name) || compare(one.id, other.id));
  }

  #of(id: string): KnownNode {
    let known = this.#nodes.get(id);
    if (known === undefined) {
      const answeredAt = performance.now();
      const unknown = { name: undefined, version: "", figures: undefined, roundTripMs: undefined };
      this.#nodes.set(id, (known = { ...unknown, answeredAt, isSilent: false }));
    }
    return known;
  }

  /** Forgets nodes that left long ago, that never had anything to show, or that returned with another id. */
  #forget(heard: readonly NodeView[]): void {
    const present = new Set(heard.map(({ id }) => id));
    const names = new Set([...present].map((id) => this.#nodes.get(id)?.name));
    const oldest = performance.now() - rememberedMs;
    const gone = [...this.#nodes].filter(([id]) => !present.has(id));
    const tooMany = gone.length - maxGone;
    gone.forEach(([id, { name, figures, answeredAt }], at) => {
      const isBack = name !== undefined && names.has(name);
      if (isBack || figures === undefined || answeredAt < oldest || at < tooMany) this.#nodes.delete(id);
    });
  }
}

function rowOf(id: string, known: KnownNode, isHeard: boolean): NodeRow {
  const { name = id, version, figures = noFigures, roundTripMs, answeredAt } = known;
  const state = !isHeard ? "left" : known.name === undefined ? "deaf" : known.isSilent ? "silent" : "answers";
  const silentMs = state === "answers" ? 0 : performance.now() - answeredAt;
  return { id, name, isSelf: false, state, silentMs, roundTripMs, ...figures, version };
}

const noFigures: NodeFigures = {
  version: "",
  uptimeMs: 0,
  loopDelayMs: 0,
  memoryBytes: undefined,
  counts: {
    sessions: 0,
    streams: 0,
    subscriptions: 0,
    inFlight: 0,
    questions: 0,
    tasks: 0,
    unsentBytes: 0,
    keptBytes: 0,
  },
};

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
