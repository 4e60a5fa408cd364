// Three processes of the conformance fixture, or of another program, behind a round-robin balancer, to be killed, halted and started again.
import { fileURLToPath } from "node:url";
import { type Everything, everythingCommand, startReady } from "../support/everything.ts";
import { RoundRobin } from "../support/round-robin.ts";

export const nodeNames = ["a", "b", "c"] as const;

export type NodeName = (typeof nodeNames)[number];

/** The fixture that is made to be killed. */
export const victim: readonly [string, ...string[]] = [
  process.execPath,
  fileURLToPath(new URL("fixtures/node.mjs", import.meta.url)),
];

export interface NodesOptions {
  /** The command that starts a node, which says on standard error where it serves. @default {the conformance fixture} */
  readonly command?: readonly [string, ...string[]];
  /** The URL of the engine that the nodes share; without it each node is alone. */
  readonly backplane?: string;
  /** Further arguments of the command. */
  readonly args?: readonly string[];
}

export class Nodes {
  /** Stands before the nodes. A request with the header `x-node: b` goes to node b. */
  readonly balancer: RoundRobin;
  readonly #command: readonly [string, ...string[]];
  readonly #running = new Map<NodeName, Everything>();

  private constructor(
    balancer: RoundRobin,
    { command = everythingCommand("--port", "0"), backplane, args = [] }: NodesOptions,
  ) {
    this.balancer = balancer;
    const shared = backplane === undefined ? [] : ["--backplane", backplane];
    this.#command = [...command, ...args, ...shared];
  }

  static async start(options: NodesOptions = {}): Promise<Nodes> {
    const nodes = new Nodes(await RoundRobin.open([], { isSteerable: true }), options);
    const starts = await Promise.allSettled(nodeNames.map((name) => nodes.start(name)));
    const failed = starts.find((start) => start.status === "rejected");
    if (failed === undefined) return nodes;
    await nodes.stop();
    throw failed.reason;
  }

  /** Where clients find the three as one. */
  get url(): string {
    return `${this.balancer.origin}/mcp`;
  }

  node(name: NodeName): Everything {
    const node = this.#running.get(name);
    if (node === undefined) throw new Error(`Node ${name} is not running`);
    return node;
  }

  /** Starts a node after {@link kill} or {@link stopNode}: another process, at another port. */
  async start(name: NodeName): Promise<void> {
    this.#running.set(name, await startReady(this.#command));
    this.#balance();
  }

  /** Ends a node with -9. The balancer is not told, and goes past it. */
  async kill(name: NodeName): Promise<void> {
    await this.node(name).kill();
  }

  /** Ends a node as a deployment does: taken out of the balancer, then SIGTERM. Resolves to the exit code. */
  async stopNode(name: NodeName): Promise<number | null> {
    const node = this.node(name);
    this.#running.delete(name);
    this.#balance();
    return node.stop();
  }

  /** Ends everything, also what is halted. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((node) => node.kill()));
    await this.balancer.close();
  }

  #balance(): void {
    this.balancer.nodes = nodeNames.flatMap((name) => {
      const node = this.#running.get(name);
      return node === undefined ? [] : [{ name, url: node.url }];
    });
  }
}
