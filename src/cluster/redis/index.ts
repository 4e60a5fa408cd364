/**
 * Connects the nodes of a server through Redis or Valkey.
 *
 * @module
 */
import type { Backplane } from "../node/backplane.ts";
import { type BackplaneOptions, checkBackplaneOptions } from "../engine/engine.ts";
import { backplaneOf } from "../backplane-of.ts";
import { HalyardError } from "../../base/errors.ts";
import { type Kind, problemOf } from "../../base/kinds.ts";
import { type Connector, refuseConnection } from "./connection.ts";
import { RedisEngine } from "./engine.ts";
import { ioRedisClusterConnector, ioRedisConnector } from "./ioredis.ts";
import { nodeRedisClusterConnector, nodeRedisConnector } from "./node-redis.ts";

export type { Backplane, BackplaneOptions };

/**
 * A client of `redis`, `@redis/client`, `ioredis` or `iovalkey`: `createClient()`, `createCluster()`, `new Redis()` or
 * `new Redis.Cluster()`.
 */
export interface RedisClient {
  duplicate(...overrides: never[]): object;
}

/**
 * Lets nodes share everything through Redis 6.2 or later, Valkey, or a cluster of them. Each node opens two connections with the
 * options of your client. It sends no command through your client and never closes it, so your client need not be connected.
 *
 * @example
 * ```ts
 * import { createClient } from "@redis/client";
 * import { McpServer } from "halyard";
 * import { redisBackplane } from "halyard/redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { backplane: redisBackplane(client) });
 * console.log(server.info.name);
 * ```
 */
export function redisBackplane(client: RedisClient, options: BackplaneOptions = {}): Backplane {
  checkBackplaneOptions("redisBackplane", options);
  const connector = connectorOf(client);
  return backplaneOf({
    engine: "Redis",
    options,
    open: (join) => RedisEngine.open(connector, join).catch(cannotConnect),
  });
}

/** Distinguishes the clients of the two packages by their methods. */
function connectorOf(client: object): Connector {
  const can = (...methods: readonly string[]): boolean =>
    methods.every((name) => typeof (client as Record<string, unknown> | null)?.[name] === "function");
  if (can("duplicate", "sSubscribe", "nodeClient")) return nodeRedisClusterConnector(client as never);
  if (can("duplicate", "sSubscribe", "destroy") && "isPubSubActive" in client) {
    return nodeRedisConnector(client as never);
  }
  if (can("duplicate", "call", "nodes")) return ioRedisClusterConnector(client as never);
  if (can("duplicate", "call", "disconnect")) return ioRedisConnector(client as never);
  return refuseConnection(problemOf(redisClient, client) ?? "");
}

const redisClient: Kind = {
  is: () => false,
  mustBe:
    "a client: createClient({ url }) or createCluster() of redis 5 or later, or new Redis(url) or new Redis.Cluster() of ioredis",
  isSecret: true,
};

function cannotConnect(cause: unknown): never {
  if (cause instanceof HalyardError) throw cause;
  const { message, code } = cause as { readonly message?: string; readonly code?: string };
  const problem = `Could not connect to Redis: ${message || code || String(cause)}`;
  const remedy = "Start Redis, or correct the options of the client that you pass to redisBackplane";
  throw new HalyardError("BACKPLANE_UNAVAILABLE", `${problem}. ${remedy}`, { cause });
}
