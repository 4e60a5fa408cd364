// Three nodes of this process behind a round-robin balancer, on a real engine or in memory.
import { randomUUID } from "node:crypto";
import { type McpServer, type ServerOptions } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { type HttpServer, type HttpStats, serveHttp } from "halyard/node";
import { afterAll } from "vitest";
import { type ConnectedBackplane, connectBackplane } from "../../examples/backplane.ts";
import type { ClusterEngine } from "../cluster/engines.ts";
import { type EngineName, EngineProcess } from "../support/engines.ts";
import { RoundRobin } from "../support/round-robin.ts";
import type { Mounted } from "./mounts.ts";

/** Creates the server of a node. */
export type CreateNode = (options: Pick<ServerOptions, "backplane">) => McpServer;

/** The engines of this test file. */
const engines = new Map<EngineName, Promise<EngineProcess>>();

afterAll(async () => {
  for (const engine of engines.values()) await (await engine).stop();
});

/** The URL of the engine, which starts when it is first needed. */
async function urlOf(program: EngineName): Promise<string> {
  const engine = engines.get(program) ?? EngineProcess.start(program);
  engines.set(program, engine);
  return (await engine).url;
}

/** Connects one node of a target. */
type Join = () => Promise<ConnectedBackplane>;

async function joinOf(engine: ClusterEngine | undefined): Promise<Join> {
  if (engine === undefined) {
    const backplane = memoryBackplane();
    return async () => ({ backplane, close: async () => {} });
  }
  const url = await urlOf(engine.program);
  const prefix = `interop-${randomUUID()}`;
  // A connection for each node, as it would have in a process of its own.
  return () => connectBackplane(url, { prefix });
}

/** Starts nodes that share nothing with those of other targets; in memory if there is no engine. */
export async function mountNodes(engine: ClusterEngine | undefined, create: CreateNode): Promise<Mounted> {
  const join = await joinOf(engine);
  const nodes = await Promise.all(["a", "b", "c"].map((name) => startNode(name, join, create)));
  const balancer = await RoundRobin.open(nodes);
  return {
    url: `${balancer.origin}/mcp`,
    stats: () => summed(nodes.map(({ http }) => http.stats())),
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await balancer.close();
    },
  };
}

interface StartedNode {
  readonly name: string;
  readonly url: string;
  readonly http: HttpServer;
  close(): Promise<void>;
}

async function startNode(name: string, join: Join, create: CreateNode): Promise<StartedNode> {
  const { backplane, close } = await join();
  const http = await serveHttp(create({ backplane }), { port: 0, graceMs: 200 });
  return {
    name,
    url: http.url,
    http,
    async close() {
      await http.close();
      await close();
    },
  };
}

function summed(all: readonly HttpStats[]): HttpStats {
  const [first, ...others] = all;
  const names = Object.keys(first ?? {}) as (keyof HttpStats)[];
  const total = (name: keyof HttpStats): number =>
    others.reduce((sum, one) => sum + one[name], first?.[name] ?? 0);
  return Object.fromEntries(names.map((name) => [name, total(name)])) as unknown as HttpStats;
}

/**
 * Definitions are code, which every node has for itself: what one node offers or takes away at run time, the application has to switch
 * on all. After a call of `tool`, each node offers `feature` if the called one does.
 */
export function sharingSwitch(tool: string, feature: string, create: CreateNode): CreateNode {
  const nodes: McpServer[] = [];
  return (options) => {
    const server = create(options);
    nodes.push(server);
    return server.use("tools/call", async (request, _, next) => {
      const result = await next();
      const change = server.tools.get(feature)?.enabled ? "enable" : "disable";
      const others = request.params["name"] === tool ? nodes.filter((node) => node !== server) : [];
      for (const { tools } of others) tools.get(feature)?.[change]();
      return result;
    });
  };
}
