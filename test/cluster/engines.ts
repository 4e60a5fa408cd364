// The engines that three nodes are tested on as a whole: Redis always, NATS where everything runs, since it doubles the time.
import { type EngineName, hasEngine } from "../support/engines.ts";
import { isEverything } from "../support/tier.ts";

export interface ClusterEngine {
  readonly name: string;
  readonly program: EngineName;
}

const everyEngine: readonly ClusterEngine[] = [
  { name: "Redis", program: "redis-server" },
  { name: "NATS", program: "nats-server" },
];

const wanted = isEverything ? everyEngine : everyEngine.slice(0, 1);

/** Those that are installed, or must be. */
export const clusterEngines: readonly ClusterEngine[] = wanted.filter(({ program }) => hasEngine(program));
