// Several servers in one process that are the nodes of a cluster, each with an engine that a test can disturb.
import { type Backplane, McpServer, type ServerOptions } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import type { HttpOptions } from "halyard/node";
import { faultyBackplane, type FaultyNode } from "./faulty-backplane.ts";
import { recordingLogger } from "./log.ts";
import { type Edge, serve, type Served, SessionClient, type SessionOptions } from "./sessions.ts";

/** One node of a cluster. */
export interface TestNode extends Served {
  readonly server: McpServer;
  readonly engine: FaultyNode;
  readonly logger: ReturnType<typeof recordingLogger>;
}

export interface ClusterOptions {
  readonly nodes?: number;
  /** Defines the server of each node. */
  readonly define?: (server: McpServer, at: number) => void;
  readonly server?: ServerOptions;
  readonly http?: HttpOptions;
  readonly edge?: Edge;
  /** What the nodes share. */
  readonly backplane?: Backplane;
}

/** Adds a node to the cluster of a backplane. */
export async function serveNode(
  shared: Backplane,
  { define, server: options, http = {}, edge }: ClusterOptions,
  at = 0,
): Promise<TestNode> {
  const logger = recordingLogger();
  const { backplane, node } = faultyBackplane(shared);
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger, ...options, backplane });
  define?.(server, at);
  const served = await serve(server, http, edge);
  return { ...served, server, engine: node, logger };
}

/** Serves the nodes of a cluster, by default three, until the test ends. */
export async function serveCluster(
  options: ClusterOptions = {},
): Promise<readonly [TestNode, TestNode, TestNode]> {
  const shared = options.backplane ?? memoryBackplane();
  const nodes: TestNode[] = [];
  for (let at = 0; at < (options.nodes ?? 3); at++) nodes.push(await serveNode(shared, options, at));
  return nodes as unknown as readonly [TestNode, TestNode, TestNode];
}

/** The same client at another node. */
export function clientAt(
  node: { readonly url: string },
  client: SessionClient,
  options: SessionOptions = {},
): SessionClient {
  return new SessionClient(node.url, client.id, { revision: client.revision, ...options });
}

/** Defines a tool `wait` that returns when its call is cancelled. */
export function waitTool(
  called: () => void,
  cancelled: (reason: unknown) => void,
): (server: McpServer) => void {
  return (server) =>
    void server.tool("wait", {}, async (_, { signal }) => {
      called();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      cancelled(signal.reason);
      return "late";
    });
}
