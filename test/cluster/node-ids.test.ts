// Ids of nodes: no two processes share one, also when a process forks after its server was set up.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Backplane, McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveCluster } from "../support/cluster.ts";
import { EngineProcess } from "../support/engines.ts";
import { recordingLogger } from "../support/log.ts";
import { deferred, until } from "../support/turns.ts";
import { clusterEngines } from "./engines.ts";

/** A backplane on which every node id is taken. */
function takenIds(shared: Backplane): Backplane {
  return {
    ...shared,
    async open(options) {
      const engine = await shared.open(options);
      const create = engine.create.bind(engine);
      const refuse: typeof create = async (key, text, ttlMs) =>
        key.kind === "node" ? undefined : create(key, text, ttlMs);
      return Object.assign(engine, { create: refuse });
    },
  };
}

test("a node whose id another has does not serve", async () => {
  const backplane = takenIds(memoryBackplane());
  const server = new McpServer({ name: "test", version: "1.0.0" }, { backplane, logger: recordingLogger() });
  await expect(serveHttp(server, { port: 0 })).rejects.toThrow(/Another node has the id [\w-]{12}/);
});

test("a node that leaves ignores messages of others", async () => {
  const backplane = memoryBackplane();
  const [leaving] = await serveCluster({ nodes: 1, backplane });
  const gate = deferred();
  leaving.engine.delay("remove node", () => gate.promise);
  const closed = leaving.close();
  await until(() => leaving.engine.operations.includes("remove node"));
  const [other] = await serveCluster({ nodes: 1, backplane });
  gate.resolve();
  await closed;
  expect(leaving.logger.entries).toEqual([]);
  expect(other.server.cluster.nodes()).toHaveLength(1);
});

test("a server that leaves and joins again is another node", async () => {
  const backplane = memoryBackplane();
  const [other] = await serveCluster({ nodes: 1, backplane });
  const server = new McpServer({ name: "test", version: "1.0.0" }, { backplane });
  const ids = new Set<string | undefined>();
  for (let times = 0; times < 3; times++) {
    const http = await serveHttp(server, { port: 0 });
    ids.add(server.cluster.nodes().find(({ isSelf }) => isSelf)?.id);
    await http.close();
  }
  expect(ids.size).toBe(3);
  expect(other.server.cluster.nodes()).toHaveLength(1);
});

describe.each(clusterEngines)("processes that fork after setup, on $name", ({ program }) => {
  test("are nodes of their own, and a message to all runs once on each", async () => {
    const engine = await EngineProcess.start(program);
    onTestFinished(() => engine.stop());
    const path = fileURLToPath(new URL("fixtures/forks.mjs", import.meta.url));
    const child = spawn(process.execPath, [path, engine.url], { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    const nodes = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; nodes: string[]; pushed: string[] });
    const ids = nodes.map(({ id }) => id).toSorted();
    expect(new Set(ids).size).toBe(3);
    for (const node of nodes) {
      expect(node.nodes).toEqual(ids);
      expect(node.pushed).toEqual(["hello"]);
    }
  }, 60_000);
});
