// What the soak disturbs: three nodes of which it kills one after the other, or one process whose connections it cuts.
import { setTimeout as sleep } from "node:timers/promises";
import { EngineProcess } from "../../test/support/engines.ts";
import { type Everything, startReady } from "../../test/support/everything.ts";
import { nodeNames, Nodes, victim } from "../../test/cluster/nodes.ts";
import { CuttingProxy } from "./cutting-proxy.ts";

export interface Subject {
  /** Where clients find it. */
  readonly url: string;
  /** Kills a node and starts it again, or cuts a connection. */
  disturb(): Promise<void>;
  /** What the processes that run have said on standard error. */
  said(): readonly string[];
  /** Ends everything. */
  stop(): Promise<void>;
}

const programs = { redis: "redis-server", nats: "nats-server" } as const;

export type EngineName = keyof typeof programs;

export function isEngineName(name: string): name is EngineName {
  return Object.hasOwn(programs, name);
}

/** Takes what a node has said on standard error, once it is killed. */
type TakeStderr = (text: string) => void;

export class KilledCluster implements Subject {
  readonly #engine: EngineProcess;
  readonly #nodes: Nodes;
  readonly #take: TakeStderr;

  private constructor(engine: EngineProcess, nodes: Nodes, take: TakeStderr) {
    this.#engine = engine;
    this.#nodes = nodes;
    this.#take = take;
  }

  static async start(engineName: EngineName, take: TakeStderr): Promise<KilledCluster> {
    const engine = await EngineProcess.start(programs[engineName]);
    return new KilledCluster(engine, await Nodes.start({ command: victim, backplane: engine.url }), take);
  }

  get url(): string {
    return this.#nodes.url;
  }

  async disturb(): Promise<void> {
    const name = nodeNames[Math.floor(Math.random() * nodeNames.length)] ?? "a";
    await sleep(Math.random() * 500);
    const node = this.#nodes.node(name);
    await node.kill();
    this.#take(node.stderr());
    await sleep(Math.random() * 200);
    await this.#nodes.start(name);
  }

  said(): readonly string[] {
    return nodeNames.map((name) => this.#nodes.node(name).stderr());
  }

  async stop(): Promise<void> {
    await this.#nodes.stop();
    await this.#engine.stop();
  }
}

export class CutProcess implements Subject {
  readonly #process: Everything;
  readonly #proxy: CuttingProxy;

  private constructor(server: Everything, proxy: CuttingProxy) {
    this.#process = server;
    this.#proxy = proxy;
  }

  static async start(): Promise<CutProcess> {
    const server = await startReady(victim);
    return new CutProcess(server, await CuttingProxy.open(server.url));
  }

  get url(): string {
    return `${this.#proxy.origin}/mcp`;
  }

  /** Cuts of streams and of other requests take turns, since there are many more of these. */
  async disturb(): Promise<void> {
    do await sleep(Math.random() * 100);
    while (!this.#proxy.cut(Math.random() < 0.5 ? "GET" : "POST"));
  }

  said(): readonly string[] {
    return [this.#process.stderr()];
  }

  async stop(): Promise<void> {
    await this.#proxy.close();
    await this.#process.stop();
  }
}
