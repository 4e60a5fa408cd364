// Nodes in this process on a real engine, each behind a proxy of its own that a test disturbs.
import { connect as connectNats } from "@nats-io/transport-node";
import { createClient } from "@redis/client";
import { type Backplane, inputRequired, type JsonObject, type McpServer, type ServerEvent } from "halyard";
import { type BackplaneOptions } from "halyard/cluster";
import { natsBackplane } from "halyard/nats";
import { redisBackplane } from "halyard/redis";
import { onTestFinished } from "vitest";
import { type ClusterOptions, serveNode, type TestNode } from "../support/cluster.ts";
import { EngineProxy } from "../support/engine-proxy.ts";
import { type EngineName, type EngineOptions, EngineProcess, hasEngine } from "../support/engines.ts";
import type { EventReply } from "../support/event-reply.ts";
import { ofType } from "../support/events.ts";
import { logDataOf, sendModern } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

/** The engines that are installed, or must be. */
export const engineNames: readonly EngineName[] = (["redis-server", "nats-server"] as const).filter(
  hasEngine,
);

/** A node whose connection to the engine can be disturbed. */
export interface EngineNode extends TestNode {
  readonly proxy: EngineProxy;
  readonly backplane: Backplane;
  readonly events: readonly ServerEvent[];
}

export interface EngineClusterOptions extends Omit<ClusterOptions, "backplane" | "nodes"> {
  readonly engine?: EngineOptions;
  readonly backplane?: BackplaneOptions;
}

const connectors: Readonly<
  Record<EngineName, (url: string, options: BackplaneOptions) => Promise<Backplane>>
> = {
  "redis-server": async (url, options) => redisBackplane(createClient({ url }), options),
  async "nats-server"(url, options) {
    const connection = await connectNats({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
    onTestFinished(() => connection.close());
    return natsBackplane(connection, options);
  },
};

/** What every node of these tests offers. */
export function defineEcho(server: McpServer): void {
  server.tool("echo", {}, () => "echo");
  server.resource("note:///a", {}, () => "");
  server.tool("later", {}, (_, ctx) =>
    ctx.requestState<number>() === 1 ? "now" : inputRequired({ requestState: 1 }),
  );
}

/** Starts an engine for one test. */
export async function startEngine(name: EngineName, options: EngineOptions = {}): Promise<EngineProcess> {
  const engine = await EngineProcess.start(name, options);
  onTestFinished(() => engine.stop());
  return engine;
}

/** Adds a node, with a proxy of its own. */
export async function addNode(
  engine: EngineProcess,
  { backplane = {}, define = defineEcho, server, ...options }: EngineClusterOptions = {},
): Promise<EngineNode> {
  const proxy = await EngineProxy.open(engine.url);
  const events: ServerEvent[] = [];
  const observe = (event: ServerEvent): void => void events.push(event);
  const shared = await connectors[engine.name](proxy.url, backplane);
  const node = await serveNode(shared, { ...options, define, server: { observe, ...server } });
  return { ...node, proxy, backplane: shared, events };
}

/** Two nodes on an engine of their own, until the test ends. */
export async function twoNodes(
  name: EngineName,
  options: EngineClusterOptions = {},
): Promise<{ engine: EngineProcess; one: EngineNode; other: EngineNode }> {
  const engine = await startEngine(name, options.engine);
  const [one, other] = [await addNode(engine, options), await addNode(engine, options)];
  await until(() => [one, other].every(({ server }) => server.cluster.nodes().length === 2));
  return { engine, one, other };
}

/** How often the node has been told that the engine is lost, or back. */
export function timesOf({ events }: EngineNode, state: "lost" | "back"): number {
  return ofType(events, "engine").filter((event) => event.state === state).length;
}

/** Resolves when the node has been told so once more than `before`. */
export function hasBeen(node: EngineNode, state: "lost" | "back", before = 0): Promise<void> {
  return until(() => timesOf(node, state) > before);
}

/** Resolves when each of the nodes reaches the engine again, and hears itself. */
export async function allBack(...nodes: readonly EngineNode[]): Promise<void> {
  for (const node of nodes)
    await until(() => timesOf(node, "back") > 0 && timesOf(node, "back") === timesOf(node, "lost"));
}

/** Sends a numbered message to a session. */
export function push({ server }: TestNode, session: string, data: number): Promise<boolean> {
  return server.push.toSession(session, "notifications/message", { level: "info", data });
}

/** The numbers that have arrived on streams, in their order. */
export function numbersOn(...streams: readonly EventReply[]): unknown[] {
  return logDataOf(streams.flatMap(({ messages }) => messages));
}

/** Resolves when that number has arrived on the stream. */
export async function arrived(stream: EventReply, data: number): Promise<void> {
  await stream.message(({ params }) => (params as JsonObject | undefined)?.["data"] === data);
}

export async function modernStatus({ url }: TestNode): Promise<number> {
  const reply = await sendModern(url, "tools/call", { name: "echo", arguments: {} });
  await reply.closed;
  return reply.status;
}

/** The state of a call that the client continues later. */
export async function sealedBy({ url }: { readonly url: string }): Promise<unknown> {
  const reply = await sendModern(url, "tools/call", { name: "later", arguments: {} });
  return ((await reply.json())["result"] as JsonObject)["requestState"];
}

/** The text of the call that continues with a state; undefined if the node rejects the state. */
export async function textOf({ url }: { readonly url: string }, requestState: unknown): Promise<unknown> {
  const reply = await sendModern(url, "tools/call", { name: "later", arguments: {}, requestState });
  const { result } = (await reply.json()) as { result?: { content?: { text: string }[] } };
  return result?.content?.[0]?.text;
}

/** Whether a message says that the resource of these tests has changed. */
export function isUpdate({ method }: JsonObject): boolean {
  return method === "notifications/resources/updated";
}
