// The nodes that serve together, as one of them sees them. A process without a backplane is a cluster of one.
import type { Engine, ValueKind } from "./engine.ts";
import type { JoinedCluster } from "./joined-cluster.ts";
import type { ClusterNode } from "./presence.ts";

export interface Cluster {
  /** The id of this node: another one each time it joins, and empty for a process alone. */
  readonly node: string;
  /** Where all nodes find what is stored. */
  readonly engine: Engine;
  /** The secrets of the backplane, the one that seals first; empty if it has none. */
  readonly secrets: readonly string[];
  /** How this node reaches others; undefined for a process alone. */
  readonly others: JoinedCluster | undefined;
  /** Whether this node, as far as it knows, reaches the engine. */
  readonly isReachable: boolean;
  /** Joins, once for all transports of the server. Rejects if the engine cannot be used. Call {@link Cluster.leave} as often. */
  join(): Promise<void>;
  leave(): Promise<void>;
  /** The nodes that this one hears; none without a backplane. */
  nodes(): ClusterNode[];
  /** The time on the wall clock of a node, as far as this one knows it: clocks need not agree. */
  clockOf(node: string): number;
  /** Logs that the engine has a value of another form than nodes write. It counts as absent. */
  ignoreInvalid(kind: ValueKind): void;
}
