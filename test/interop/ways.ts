// The ways in which the official clients reach a server: a process of their own, a mount over HTTP, or three nodes behind a balancer.
import { fileURLToPath } from "node:url";
import type { ServerOptions } from "halyard";
import { createDemoServer, firstNotes } from "../../examples/demo/server.ts";
import { createEverythingServer } from "../../examples/everything/server.ts";
import { clusterEngines } from "../cluster/engines.ts";
import { createAskingServer } from "./asking-server.ts";
import { type Mounted, mounts } from "./mounts.ts";
import { type CreateNode, mountNodes, sharingSwitch } from "./nodes.ts";

/** What is served: as a program on stdio, or made in this process, as nodes that share their data. */
interface Application {
  readonly program: string;
  deploy(): CreateNode;
}

const applications = {
  demo: { program: "../../examples/demo/stdio.ts", deploy: () => deployDemo({}) },
  pagedDemo: { program: "programs/paged-demo.ts", deploy: () => deployDemo({ pageSize: 2 }) },
  asking: {
    program: "programs/asking.ts",
    deploy() {
      const ending = { text: "Nobody has waited" };
      return (options) => createAskingServer(options, ending);
    },
  },
  everything: {
    program: "programs/everything.ts",
    deploy() {
      const runs = new Map<string, number>();
      return (options) => createEverythingServer({ ...options, runs });
    },
  },
} satisfies Record<string, Application>;

function deployDemo(settings: ServerOptions): CreateNode {
  const notes = firstNotes();
  return (options) => createDemoServer({ ...settings, ...options }, notes);
}

export type Subject = keyof typeof applications;

/** Where a client finds a server. */
export type Target =
  | { readonly kind: "program"; readonly path: string; close(): Promise<void> }
  | ({ readonly kind: "url" } & Mounted);

export interface Way {
  readonly way: string;
  /** How many nodes there are: each announces a change of its own catalogue. */
  readonly nodes: number;
  /** Makes a server of its own ready to be connected to. */
  start(subject: Subject): Promise<Target>;
}

export const stdio: Way = {
  way: "stdio",
  nodes: 1,
  start: async (subject) => ({
    kind: "program",
    path: fileURLToPath(new URL(applications[subject].program, import.meta.url)),
    // The client has started the process, and ends it.
    close: async () => {},
  }),
};

const mountWays: readonly Way[] = mounts.map(({ name, mount }) => ({
  way: name,
  nodes: 1,
  start: async (subject) => ({ kind: "url", ...(await mount(applications[subject].deploy()({}))) }),
}));

/** In memory if no engine is installed, or if all are wanted. */
const shared = clusterEngines.length === 1 ? clusterEngines : [undefined, ...clusterEngines];

const clusterWays: readonly Way[] = shared.map((engine) => ({
  way: engine === undefined ? "three nodes in memory" : `three nodes on ${engine.name}`,
  nodes: 3,
  async start(subject) {
    const create = sharingSwitch("toggle_feature", "delete_note", applications[subject].deploy());
    return { kind: "url", ...(await mountNodes(engine, create)) };
  },
}));

export const httpWays: readonly Way[] = [...mountWays, ...clusterWays];

export const ways: readonly Way[] = [stdio, ...httpWays];
