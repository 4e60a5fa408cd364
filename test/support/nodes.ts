// Several servers in one process that are nodes of a cluster, over an engine that the test counts, breaks and meddles with.
import { type Backplane, McpServer, type ServerOptions } from "halyard";
import { backplaneOf, type BackplaneOptions, memoryBackplane } from "halyard/cluster";
import { type Engine, engineOf, join, type JoinOptions } from "./backplane.ts";

type Receiver = JoinOptions["receiver"];
export type Entry = Parameters<Receiver["entry"]>[1];

/** What the engine passes to one node. */
export interface Deliveries {
  entry(log: string, entry: Entry): void;
  message(text: string): void;
}

/** The memory engine of all nodes, in the hands of the test. */
export class HeldBackplane implements Backplane {
  readonly engine = "test";
  readonly options: BackplaneOptions;
  /** Every operation of every node except beats, as `append changes`. */
  readonly operations: string[] = [];
  /** The operations that fail now; `after` for one that the engine does, although its node does not learn of it. */
  failing: (operation: string, node: string) => boolean | "after" = () => false;
  /** Replaces how a node gets what the engine delivers. */
  meddle: (to: Deliveries, node: string) => Deliveries = (to) => to;
  readonly #memory = memoryBackplane();
  readonly #receivers = new Map<string, Receiver>();

  constructor(options: BackplaneOptions = {}) {
    this.options = options;
  }

  cluster(host: Parameters<Backplane["cluster"]>[0]): ReturnType<Backplane["cluster"]> {
    return backplaneOf(this).cluster(host);
  }

  async open(options: JoinOptions): Promise<Engine> {
    const { receiver, node } = options;
    this.#receivers.set(node, receiver);
    const now = (): Deliveries => this.meddle(receiver, node);
    const watched: Receiver = {
      lost: (error) => receiver.lost(error),
      back: () => receiver.back(),
      entry: (log, entry) => now().entry(log, entry),
      message: (text) => now().message(text),
    };
    const engine = await this.#memory.open({ ...options, receiver: watched });
    return this.#watch(engine, node);
  }

  /** An engine of its own, for what a test reads and writes past the servers. */
  spy(): Promise<Engine> {
    return engineOf(this.#memory);
  }

  /** The engine of every node is lost: nothing works. */
  lose(): void {
    this.failing = () => true;
    for (const receiver of this.#receivers.values()) receiver.lost(new Error("gone"));
  }

  restore(): void {
    this.failing = () => false;
    for (const receiver of this.#receivers.values()) receiver.back();
  }

  #watch(engine: Engine, node: string): Engine {
    const run = async (name: keyof Engine, args: readonly unknown[]): Promise<unknown> => {
      const [first] = args;
      const about = typeof first === "object" ? ((first as { kind?: string }).kind ?? "") : String(first);
      const operation = `${name} ${about}`.trim();
      if (!isBeat(args)) this.operations.push(operation);
      const fails = this.failing(operation, node);
      const work = engine[name] as (...all: readonly unknown[]) => Promise<unknown>;
      const result = fails === true ? undefined : await work.apply(engine, [...args]);
      if (fails) throw new Error("The engine is gone");
      return result;
    };
    return new Proxy(engine, {
      get: (_, name) =>
        name in engine ? (...args: readonly unknown[]) => run(name as keyof Engine, args) : undefined,
    });
  }
}

function isBeat([, text]: readonly unknown[]): boolean {
  return typeof text === "string" && /"kind":"(beat|hello|bye)"/.test(text);
}

/** A server that has joined the cluster until the test ends. */
export async function joinNode(
  backplane: Backplane,
  options: ServerOptions = {},
  define: (server: McpServer) => void = () => {},
): Promise<McpServer> {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { backplane, ...options });
  define(server);
  return join(server);
}

/** The id of a node. */
export function nodeId(server: McpServer): string {
  return server.cluster.nodes().find(({ isSelf }) => isSelf)?.id ?? "";
}
