// Every backplane that a test can run on: the one in memory, and each client of each engine. One row each.
import { connect as connectNats } from "@nats-io/transport-node";
import { createClient, createCluster } from "@redis/client";
import { type Backplane } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { natsBackplane } from "halyard/nats";
import { redisBackplane } from "halyard/redis";
import { Cluster, Redis } from "ioredis";
import { type EngineName, type EngineOptions, EngineProcess, hasEngine } from "./engines.ts";

/** A backplane to test. */
export interface BackplaneRow {
  readonly name: string;
  /** Without it the backplane needs no process. */
  readonly engine?: EngineName;
  readonly options?: EngineOptions;
  /** Creates the backplane of a process, with the client that it needs. */
  readonly connect: (url: string) => Connected | Promise<Connected>;
}

interface Connected {
  readonly backplane: Backplane;
  /** Closes the client of the test. */
  close(): unknown;
}

const rows: readonly BackplaneRow[] = [
  { name: "memory", connect: () => ({ backplane: memoryBackplane(), close() {} }) },
  {
    name: "Redis, @redis/client",
    engine: "redis-server",
    connect: (url) => ({ backplane: redisBackplane(createClient({ url })), close() {} }),
  },
  {
    name: "Redis, ioredis",
    engine: "redis-server",
    connect: (url) => {
      const client = new Redis(url).on("error", () => {});
      return { backplane: redisBackplane(client), close: () => client.disconnect() };
    },
  },
  {
    name: "Redis Cluster, @redis/client",
    engine: "redis-server",
    options: { isCluster: true },
    connect: (url) => ({
      backplane: redisBackplane(createCluster({ rootNodes: [{ url }] })),
      close() {},
    }),
  },
  {
    name: "Redis Cluster, ioredis",
    engine: "redis-server",
    options: { isCluster: true },
    connect: (url) => {
      const client = new Cluster([url]).on("error", () => {});
      return { backplane: redisBackplane(client), close: () => client.disconnect() };
    },
  },
  {
    name: "NATS, @nats-io/transport-node",
    engine: "nats-server",
    async connect(url) {
      const connection = await connectNats({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
      return { backplane: natsBackplane(connection), close: () => connection.close() };
    },
  },
];

/** The rows whose engine is installed, or must be. */
export const backplanes: readonly BackplaneRow[] = rows.filter(
  ({ engine }) => engine === undefined || hasEngine(engine),
);

/** A backplane on a process of its own. */
export interface RunningBackplane extends Connected {
  /** Undefined for the backplane in memory. */
  readonly process: EngineProcess | undefined;
}

/** Starts the engine of a row. `close` ends it too. */
export async function startBackplane({ engine, options, connect }: BackplaneRow): Promise<RunningBackplane> {
  const process = engine && (await EngineProcess.start(engine, options));
  const { backplane, close } = await connect(process?.url ?? "");
  return {
    backplane,
    process,
    async close() {
      await close();
      await process?.stop();
    },
  };
}
