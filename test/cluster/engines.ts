// The engines that three nodes are tested on as a whole: Redis always, NATS with HALYARD_CLUSTER=1, since it doubles the time.
import { type EngineName, hasEngine } from "../support/engines.ts";

export interface ClusterEngine {
  readonly name: string;
  readonly program: EngineName;
}

const everyEngine: readonly ClusterEngine[] = [
  { name: "Redis", program: "redis-server" },
  { name: "NATS", program: "nats-server" },
];

const wanted = process.env["HALYARD_CLUSTER"] === "1" ? everyEngine : everyEngine.slice(0, 1);

/** Those that are installed, or must be. */
export const clusterEngines: readonly ClusterEngine[] = wanted.filter(({ program }) => hasEngine(program));
