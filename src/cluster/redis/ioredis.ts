// Connections with the options of a client of `ioredis` or `iovalkey`.
import {
  type Commands,
  type Connector,
  type Emitter,
  isSubscriber,
  oneOfMethods,
  refuseConnection,
} from "./connection.ts";

interface Common extends Emitter {
  readonly status: string;
  readonly mode?: string;
  connect(): Promise<unknown>;
  call(name: string, args: readonly string[]): Promise<unknown>;
  disconnect(): void;
}

export interface IoRedis extends Common {
  duplicate(overrides: object): IoRedis;
  subscribe(...channels: readonly string[]): Promise<unknown>;
}

export interface IoRedisCluster extends Common {
  duplicate(nodes: readonly object[], overrides: object): IoRedisCluster;
  nodes(role: "master"): readonly IoRedis[];
}

/** Connects on request, queues nothing, and overrides options that would change our names or the types of our replies. */
const ours = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  keyPrefix: "",
  stringNumbers: false,
};

export function ioRedisConnector(client: IoRedis): Connector {
  checkClient(client);
  return { isCluster: false, create: () => connectionLike(client) };
}

function connectionLike(like: IoRedis): Commands & Awaited<ReturnType<Commands["subscriber"]>> {
  const client = like.duplicate({
    ...ours,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    readOnly: false,
  });
  return {
    connect: () => client.connect(),
    call: (_, [name = "", ...args]) => client.call(name.toLowerCase(), args),
    subscribe(channels, receive) {
      client.on("message", (_: string, text: string) => receive(text));
      return client.subscribe(...channels);
    },
    subscriber: async () => connectionLike(like),
    onFailure(listener) {
      client.on("error", listener);
      client.on("end", () => listener(new Error("Redis closed the connection")));
    },
    close: () => client.disconnect(),
  };
}

export function ioRedisClusterConnector(client: IoRedisCluster): Connector {
  checkClient(client);
  return { isCluster: true, create: () => clusterLike(client) };
}

function clusterLike(like: IoRedisCluster): Commands {
  const cluster = like.duplicate([], {
    ...ours,
    redisOptions: { keyPrefix: "", stringNumbers: false },
    clusterRetryStrategy: () => null,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    scaleReads: "master",
  });
  cluster.on("error", () => {});
  return {
    connect: () => cluster.connect(),
    call: (_, [name = "", ...args]) => cluster.call(name.toLowerCase(), args),
    subscriber: async () => connectionLike(oneOfMethods(cluster.nodes("master"))),
    onFailure: (listener) =>
      void cluster.on("end", () => listener(new Error("No server of the cluster is left"))),
    close: () => cluster.disconnect(),
  };
}

function checkClient({ status, mode = "normal" }: Common): void {
  if (mode !== "normal") refuseConnection(isSubscriber);
  if (status === "end") refuseConnection("is closed: pass a client that you still use");
}
