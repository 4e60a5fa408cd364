// Two nodes of a cluster on one mount, and an attacker who can reach their engine.
import type { Backplane, McpServer, ServerOptions } from "halyard";
import { type BackplaneOptions, memoryBackplane } from "halyard/cluster";
import { makeServer } from "../support/catalogue.ts";
import { backplaneThat, type Engine, engineOf, join } from "../support/backplane.ts";
import type { LogEntry } from "../support/log.ts";
import { until } from "../support/turns.ts";
import { type HttpDoor, openHttp } from "./mounts.ts";
import type { HttpRow } from "./row.ts";

export type HttpMount = Parameters<HttpRow["attack"]>[0];

/** A node, and where its clients find it. */
export interface NodeDoor extends HttpDoor {
  readonly server: McpServer;
  readonly url: string;
  readonly log: readonly LogEntry[];
}

type Key = Parameters<Engine["get"]>[0];

/** What nodes have written to the engine. */
export interface Written {
  /** The newest text of each value. */
  readonly values: { readonly key: Key; readonly text: string }[];
  readonly logs: Set<string>;
  /** All names and texts. */
  readonly all: string[];
}

export interface OpenedCluster {
  readonly nodes: readonly [NodeDoor, NodeDoor];
  readonly written: Written;
  /** The engine without its seal, for an attacker. */
  readonly engine: Engine;
}

export interface ClusterDoorOptions {
  readonly define?: (server: McpServer) => void;
  readonly backplane?: BackplaneOptions;
  readonly server?: ServerOptions;
}

function watched(shared: Backplane): { readonly backplane: Backplane; readonly written: Written } {
  const written: Written = { values: [], logs: new Set(), all: [] };
  const put = (key: Key, text: string): void => {
    const at = written.values.findIndex(({ key: { kind, tag } }) => kind === key.kind && tag === key.tag);
    written.values.splice(at < 0 ? written.values.length : at, at < 0 ? 0 : 1, { key, text });
    written.all.push(key.tag, text);
  };
  const backplane = backplaneThat(
    (engine) => ({
      create: (key, text, ttlMs) => (put(key, text), engine.create(key, text, ttlMs)),
      replace: (key, text, ttlMs, version) => (put(key, text), engine.replace(key, text, ttlMs, version)),
      append: (log, text, options) => {
        written.logs.add(log);
        written.all.push(log, text);
        return engine.append(log, text, options);
      },
      send: (to, text) => (written.all.push(to, text), engine.send(to, text)),
    }),
    shared,
  );
  return { backplane, written };
}

/** Serves two nodes until the test ends. */
export async function openCluster(
  mount: HttpMount,
  { define = () => {}, backplane: options = {}, server: serverOptions = {} }: ClusterDoorOptions = {},
): Promise<OpenedCluster> {
  const { backplane, written } = watched(memoryBackplane(options));
  const node = async (): Promise<NodeDoor> => {
    const { server, log } = makeServer({ ...serverOptions, backplane });
    define(server);
    const door = await openHttp(mount, server);
    return { ...door, server, log, url: `http://127.0.0.1:${door.port}/mcp` };
  };
  const nodes = [await node(), await node()] as const;
  // Some mounts serve before their node has joined.
  for (const { server } of nodes) await join(server);
  await until(() => nodes.every(({ server }) => server.cluster.nodes().length === 2));
  return { nodes, written, engine: await engineOf(backplane) };
}

/** Overwrites a value, as an attacker at the engine can. */
export async function overwrite(engine: Engine, key: Key, text: string): Promise<void> {
  const stored = await engine.get(key);
  const version = await (stored === undefined
    ? engine.create(key, text, 60_000)
    : engine.replace(key, text, 60_000, stored.version));
  if (version === undefined) throw new Error(`The value of the kind ${key.kind} was not written`);
}

/** A message between nodes, as one who is no node would write it. */
export function busMessage(kind: unknown, body: unknown): string {
  return JSON.stringify({ v: 1, from: "intruder", kind, body });
}
