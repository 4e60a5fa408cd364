// A process without a backplane: its engine is its own memory, and there is nobody else to join, hear or ask.
import type { Cluster } from "./cluster.ts";
import type { Engine } from "./engine.ts";
import { MemoryEngine } from "./memory-engine.ts";
import type { ClusterNode } from "./presence.ts";

export class LoneCluster implements Cluster {
  readonly node = "";
  readonly secrets: readonly string[] = [];
  readonly others = undefined;
  readonly isReachable = true;
  readonly engine: Engine = new MemoryEngine();

  async join(): Promise<void> {}

  async leave(): Promise<void> {}

  nodes(): ClusterNode[] {
    return [];
  }

  clockOf(): number {
    return Date.now();
  }

  ignoreInvalid(): void {}
}
