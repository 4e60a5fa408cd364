// Nodes on a real nats-server, each with a connection of its own, and what each of them received.
import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { Backplane, Logger } from "halyard";
import { natsBackplane } from "halyard/nats";
import { onTestFinished } from "vitest";
import { type EngineOptions, EngineProcess } from "../support/engines.ts";
import { recordingLogger } from "../support/log.ts";

type Engine = Awaited<ReturnType<Backplane["open"]>>;

interface TestNode {
  readonly engine: Engine;
  readonly connection: NatsConnection;
  /** "lost" and "back", in their order. */
  readonly events: readonly string[];
  readonly messages: readonly string[];
  /** The texts of the entries that arrived. */
  readonly entries: readonly string[];
  readonly logger: ReturnType<typeof recordingLogger>;
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
  const [events, messages, entries]: string[][] = [[], [], []];
  const logger = recordingLogger();
  const engine = await natsBackplane(own).open({
    prefix: "halyard:test:",
    node: crypto.randomUUID(),
    logger: logger satisfies Logger,
    receiver: {
      message: (text) => void messages!.push(text),
      entry: (_, { text }) => void entries!.push(text),
      lost: () => void events!.push("lost"),
      back: () => void events!.push("back"),
    },
  });
  onTestFinished(() => engine.close());
  return { engine, connection: own, events: events!, messages: messages!, entries: entries!, logger };
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
