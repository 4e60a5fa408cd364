// The ways in which the official clients reach a server: a process of their own, or a mount over HTTP.
import { fileURLToPath } from "node:url";
import type { McpServer } from "halyard";
import { createDemoServer } from "../../examples/demo/server.ts";
import { createEverythingServer } from "../../examples/everything/server.ts";
import { createAskingServer } from "./asking-server.ts";
import { type Mounted, mounts } from "./mounts.ts";

/** What is served: as a program on stdio, or made in this process. */
const subjects = {
  demo: { program: "../../examples/demo/stdio.ts", create: () => createDemoServer() },
  pagedDemo: { program: "programs/paged-demo.ts", create: () => createDemoServer({ pageSize: 2 }) },
  asking: { program: "programs/asking.ts", create: createAskingServer },
  everything: { program: "programs/everything.ts", create: () => createEverythingServer() },
} satisfies Record<string, { program: string; create: () => McpServer }>;

export type Subject = keyof typeof subjects;

/** Where a client finds a server. */
export type Target =
  | { readonly kind: "program"; readonly path: string; close(): Promise<void> }
  | ({ readonly kind: "url" } & Mounted);

export interface Way {
  readonly way: string;
  /** Makes a server of its own ready to be connected to. */
  start(subject: Subject): Promise<Target>;
}

export const stdio: Way = {
  way: "stdio",
  start: async (subject) => ({
    kind: "program",
    path: fileURLToPath(new URL(subjects[subject].program, import.meta.url)),
    // The client has started the process, and ends it.
    close: async () => {},
  }),
};

export const httpWays: readonly Way[] = mounts.map(({ name, mount }) => ({
  way: name,
  start: async (subject) => ({ kind: "url", ...(await mount(subjects[subject].create())) }),
}));

export const ways: readonly Way[] = [stdio, ...httpWays];
