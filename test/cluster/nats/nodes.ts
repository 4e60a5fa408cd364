// Nodes on a real nats-server, each with a connection of its own.
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { natsBackplane } from "halyard/nats";
import { onTestFinished } from "vitest";
import { type EngineNode, openNode as openEngineNode } from "../../support/engine-nodes.ts";
import { type EngineOptions, EngineProcess } from "../../support/engines.ts";

interface TestNode extends EngineNode {
  readonly connection: NatsConnection;
}

/** A server for one test. */
export async function startServer(options: EngineOptions = {}): Promise<EngineProcess> {
  const server = await EngineProcess.start("nats-server", options);
  onTestFinished(() => server.stop());
  return server;
}

/** Connects to the server until the test ends. */
export async function connectTo(
  { url }: EngineProcess,
  options: { readonly maxReconnectAttempts?: number } = { maxReconnectAttempts: -1 },
): Promise<NatsConnection> {
  const connection = await connect({ servers: url, reconnectTimeWait: 20, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

/** Opens the engine of a node, without a server. */
export async function openNode(server: EngineProcess, connection?: NatsConnection): Promise<TestNode> {
  const own = connection ?? (await connectTo(server));
  return { ...(await openEngineNode(natsBackplane(own))), connection: own };
}

/** Calls the API of JetStream, as an operator does. */
export async function callJetStream<Result>(
  connection: NatsConnection,
  name: string,
  body?: object,
): Promise<Result> {
  const reply = await connection.request(`$JS.API.${name}`, body && JSON.stringify(body), { timeout: 5000 });
  return reply.json<Result>();
}
