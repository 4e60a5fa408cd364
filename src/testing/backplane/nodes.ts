// The nodes of a check of the backplane contract, with everything that each of them received, and the comparison of values.
import type { Engine, EngineSource, LogEntry } from "../../cluster/engine/engine.ts";

/** One node: its engine, and everything that the engine passed to it. */
export interface ContractNode {
  readonly id: string;
  readonly engine: Engine;
  readonly messages: string[];
  /** The entries of each log, in the order of their arrival. */
  readonly entriesOf: (log: string) => readonly LogEntry[];
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The nodes of one check. They share a prefix that no other check has. */
export class ContractNodes {
  readonly #backplane: EngineSource;
  readonly #prefix = `contract:${crypto.randomUUID()}:`;
  readonly #open: Engine[] = [];

  constructor(backplane: EngineSource) {
    this.#backplane = backplane;
  }

  /** Opens a node. Nodes with another `suffix` have another prefix. */
  async open(suffix = ""): Promise<ContractNode> {
    const id = crypto.randomUUID();
    const messages: string[] = [];
    const entries: (LogEntry & { readonly log: string })[] = [];
    const engine = await this.#backplane.open({
      prefix: this.#prefix + suffix,
      node: id,
      logger: silent,
      receiver: {
        message: (text) => void messages.push(text),
        entry: (log, entry) => void entries.push({ log, ...entry }),
        lost() {},
        back() {},
      },
    });
    this.#open.push(engine);
    const entriesOf = (wanted: string): LogEntry[] =>
      entries
        .filter(({ log }) => log === wanted)
        .map(({ sequence, previous, text }) => ({ sequence, previous, text }));
    return { id, engine, messages, entriesOf };
  }

  /** Opens this many nodes. */
  openAll(count: number): Promise<ContractNode[]> {
    return Promise.all(Array.from({ length: count }, () => this.open()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((engine) => engine.close()));
  }
}

/** Waits until `holds` is true, for longer than any engine needs on a busy machine. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited 15 s in vain: ${what}`);
    await shortPause(5);
  }
}

/** Waits until the nodes have received everything that `sender` sent before. */
export async function settled(sender: ContractNode, ...nodes: readonly ContractNode[]): Promise<void> {
  const mark = `settled ${crypto.randomUUID()}`;
  await sender.engine.send("all", mark);
  await until("a message reaches every node", () => nodes.every(({ messages }) => messages.includes(mark)));
  for (const { messages } of nodes) messages.splice(messages.indexOf(mark), 1);
}

export function shortPause(timeMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, timeMs));
}

/** Compares values as JSON, since a store may drop undefined members. */
export function expectSame(actual: unknown, expected: unknown): void {
  const [got, wanted] = [canonical(actual), canonical(expected)];
  if (got !== wanted) throw new Error(`Expected ${String(wanted)}, not ${String(got)}`);
}

function canonical(value: unknown): string | undefined {
  const sorted = (_: string, member: unknown): unknown =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member;
  return JSON.stringify(value, sorted);
}
