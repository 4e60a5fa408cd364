// Makes backplanes: of an engine, with all the code that the nodes of a cluster need, and in the memory of one process.
import type { Backplane } from "./node/backplane.ts";
import { JoinedCluster } from "./node/joined-cluster.ts";
import { type BackplaneOptions, checkBackplaneOptions, type EngineSource } from "./engine/engine.ts";
import { ConfigurationError } from "../base/errors.ts";
import type { PartKind, Parts } from "./node/cluster.ts";
import { SseForwarding } from "../transports/http/legacy-sse-forward.ts";
import { forwardedSse } from "../transports/http/legacy-sse.ts";
import { fingerprintOf, registriesOf } from "../server/catalogue/fingerprint.ts";
import { comparedCatalogues } from "../server/list-changes.ts";
import { compareCatalogues } from "../server/node-catalogues.ts";
import { agreeOnKeys } from "../server/request-state/key-agreement.ts";
import { agreedKeys } from "../server/request-state/request-state.ts";
import { TasksElsewhere } from "../server/tasks/elsewhere.ts";
import { RemotePlaces } from "../server/tasks/remote-places.ts";
import { sharedTasks } from "../server/tasks/table.ts";
import { SessionCounts } from "../server/session/counts.ts";
import { sessionCounts } from "../server/session/sessions.ts";
import { Memory, MemoryEngine } from "./engine/memory-engine.ts";

/**
 * Makes a backplane of an engine. `backplaneContract()` of `halyard/testing` checks the engine.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { backplaneOf, memoryBackplane } from "halyard/cluster";
 *
 * const memory = memoryBackplane();
 * const slow = backplaneOf({
 *   ...memory,
 *   open: async (options) => {
 *     await new Promise((resolve) => setTimeout(resolve, 100));
 *     return memory.open(options);
 *   },
 * });
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { backplane: slow });
 * console.log(server.info.name);
 * ```
 *
 * @throws {ConfigurationError} if a member is missing, or an option cannot work
 */
export function backplaneOf(source: EngineSource): Backplane {
  const fail = (field: keyof EngineSource, problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject: "backplaneOf", field }, problem);
  };
  const { engine, options } = source;
  if (typeof engine !== "string") fail("engine", "must be the name of the engine");
  if (typeof source.open !== "function") fail("open", "must be a function that opens the engine for a node");
  checkBackplaneOptions("backplaneOf", options);
  return {
    engine,
    options,
    open: (join) => source.open(join),
    // Uses the object that it is called on, so that a copy with another `open` uses that one.
    cluster(host) {
      return new JoinedCluster(this, host, parts);
    },
  };
}

const parts: Parts = new Map<PartKind<unknown>, unknown>([
  entry(comparedCatalogues, { fingerprintOf, registriesOf, compareCatalogues }),
  entry(agreedKeys, agreeOnKeys),
  entry(sharedTasks, { RemotePlaces, TasksElsewhere }),
  entry(sessionCounts, SessionCounts),
  entry(forwardedSse, SseForwarding),
]);

/** The compiler checks that the part is what its kind promises. */
function entry<Part>(kind: PartKind<Part>, part: Part): [PartKind<unknown>, unknown] {
  return [kind, part];
}

/**
 * Connects servers in one process, with the same promises as a remote engine. Pass the same backplane to each.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { memoryBackplane } from "halyard/cluster";
 *
 * const backplane = memoryBackplane();
 * const nodes = [1, 2, 3].map(() => new McpServer({ name: "demo", version: "1.0.0" }, { backplane }));
 * console.log(nodes.length);
 * ```
 */
export function memoryBackplane(options: BackplaneOptions = {}): Backplane {
  checkBackplaneOptions("memoryBackplane", options);
  const clusters = new Map<string, Memory>();
  return backplaneOf({
    engine: "memory",
    options,
    async open({ prefix, node, receiver }) {
      const shared = clusters.get(prefix) ?? new Memory();
      clusters.set(prefix, shared);
      shared.nodes.set(node, receiver);
      return new MemoryEngine(shared, node);
    },
  });
}
