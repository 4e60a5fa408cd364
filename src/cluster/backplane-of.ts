// Makes a backplane of an engine, with all that the nodes of a cluster need.
import type { Backplane } from "../backplane/backplane.ts";
import { Cluster } from "../backplane/cluster.ts";
import type { EngineSource } from "../backplane/engine.ts";
import { parts } from "./parts.ts";

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
 */
export function backplaneOf(source: EngineSource): Backplane {
  const { engine, options } = source;
  return {
    engine,
    options,
    open: (join) => source.open(join),
    // The object that it is called on, so that a copy with another `open` uses that.
    cluster(host) {
      return new Cluster(this, host, parts);
    },
  };
}
