/**
 * A backplane on NATS JetStream: several processes serve the same clients.
 *
 * @module
 */
import type { Backplane } from "../node/backplane.ts";
import { type BackplaneOptions, checkBackplaneOptions } from "../engine/engine.ts";
import { backplaneOf } from "../backplane-of.ts";
import { checkConnection, type NatsConnection } from "./connection.ts";
import { NatsEngine } from "./engine.ts";

export type { NatsConnection, NatsMessage, NatsSubscription } from "./connection.ts";

/**
 * Connects the nodes of a server through NATS 2.9 or later with JetStream. It uses your connection, and does not close it: connect
 * with `maxReconnectAttempts: -1`, and close the connection after the server.
 *
 * @example
 * ```ts
 * import { connect } from "@nats-io/transport-node";
 * import { McpServer } from "halyard";
 * import { natsBackplane } from "halyard/nats";
 * import { serveHttp } from "halyard/node";
 *
 * export async function start(): Promise<void> {
 *   const connection = await connect({ servers: "nats://127.0.0.1:4222", maxReconnectAttempts: -1 });
 *   const backplane = natsBackplane(connection);
 *   await serveHttp(new McpServer({ name: "demo", version: "1.0.0" }, { backplane }), { port: 3000 });
 * }
 * ```
 *
 * @throws {ConfigurationError} if it is not a NATS connection, or a closed one
 */
export function natsBackplane(connection: NatsConnection, options: BackplaneOptions = {}): Backplane {
  checkBackplaneOptions("natsBackplane", options);
  checkConnection(connection);
  return backplaneOf({
    engine: "NATS",
    options,
    async open(join) {
      checkConnection(connection);
      return NatsEngine.open(connection, join);
    },
  });
}
