// Connections with the options of a client of `redis` or `@redis/client`.
import {
  backOffMs,
  type Commands,
  type Connector,
  type Emitter,
  isSubscriber,
  oneOfMethods,
  refuseConnection,
} from "./connection.ts";

export interface NodeRedis extends Emitter {
  readonly options?: { readonly socket?: object };
  readonly isPubSubActive: boolean;
  duplicate(overrides: object): NodeRedis;
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  subscribe(channels: readonly string[], listener: (text: string) => void): Promise<unknown>;
  destroy(): void;
}

export interface NodeRedisCluster extends Emitter {
  readonly _options?: { readonly defaults?: { readonly socket?: object } };
  readonly masters: readonly object[];
  duplicate(overrides: object): NodeRedisCluster;
  connect(): Promise<unknown>;
  sendCommand(key: string, isReadonly: boolean, command: readonly string[]): Promise<unknown>;
  nodeClient(node: object): Promise<NodeRedis> | NodeRedis;
  destroy(): void;
}

/** Overrides options that would change our names or the types of our replies. */
const ours = { commandOptions: {}, keyPrefix: undefined, clientSideCache: undefined };

export function nodeRedisConnector(client: NodeRedis): Connector {
  if (client.isPubSubActive) refuseConnection(isSubscriber);
  return { isCluster: false, create: () => connectionLike(client) };
}

function connectionLike(like: NodeRedis): Commands & Awaited<ReturnType<Commands["subscriber"]>> {
  const client = like.duplicate({
    ...ours,
    disableOfflineQueue: true,
    socket: { ...like.options?.socket, reconnectStrategy: false },
  });
  return {
    connect: () => client.connect(),
    call: (_, command) => client.sendCommand(command),
    subscribe: (channels, receive) => client.subscribe(channels, receive),
    subscriber: async () => connectionLike(like),
    onFailure: (listener) => void client.on("error", listener),
    close: () => client.destroy(),
  };
}

export function nodeRedisClusterConnector(client: NodeRedisCluster): Connector {
  return { isCluster: true, create: () => clusterLike(client) };
}

function clusterLike(like: NodeRedisCluster): Commands {
  const defaults = like._options?.defaults;
  // One server of several may be down: its connection reconnects by itself, and the others continue meanwhile.
  const socket = { ...defaults?.socket, reconnectStrategy: backOffMs };
  const cluster = like.duplicate({
    ...ours,
    useReplicas: false,
    defaults: { ...defaults, disableOfflineQueue: true, socket },
  });
  cluster.on("error", () => {});
  return {
    connect: () => cluster.connect(),
    call: (key, command) => cluster.sendCommand(key, false, command),
    subscriber: async () => connectionLike(await cluster.nodeClient(oneOfMethods(cluster.masters))),
    onFailure() {},
    close: () => cluster.destroy(),
  };
}
