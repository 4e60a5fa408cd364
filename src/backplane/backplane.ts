// The option that makes a server a node of a cluster.
import type { JoinedCluster, ClusterHost } from "./joined-cluster.ts";
import type { EngineSource } from "./engine.ts";

/** Connects the nodes of a server through an engine: `redisBackplane` of `halyard/redis`, or `natsBackplane` of `halyard/nats`. */
export interface Backplane extends EngineSource {
  /** Makes a server one node. The server calls it. */
  cluster(host: ClusterHost): JoinedCluster;
}
