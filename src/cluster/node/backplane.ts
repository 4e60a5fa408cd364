// The option that makes a server a node of a cluster.
import type { Logger } from "../../base/logging/logger.ts";
import type { Implementation } from "../../protocol/model.ts";
import type { EngineSource } from "../engine/engine.ts";
import type { Cluster } from "./cluster.ts";

/** Connects the nodes of a server through an engine: `redisBackplane` of `halyard/redis`, or `natsBackplane` of `halyard/nats`. */
export interface Backplane extends EngineSource {
  /** Makes a server one node. The server calls it. */
  cluster(host: ClusterHost): Cluster;
}

/** The parts of its server that a cluster needs. */
export interface ClusterHost {
  readonly info: Implementation;
  readonly diagnostics: {
    readonly logger: Logger;
    /** Read for each event, because observers come and go. */
    readonly observe?: ((event: NodeEvent | EngineEvent) => void) | undefined;
  };
}

/** A node has joined the cluster or left it, as this node sees it. */
export interface NodeEvent {
  readonly type: "node";
  readonly state: "joined" | "left";
  readonly node: string;
}

/** The engine of the backplane cannot be reached, or works again. */
export interface EngineEvent {
  readonly type: "engine";
  readonly state: "lost" | "back";
  readonly reason?: string | undefined;
}
