// Makes a backplane of an engine, with all the code that the nodes of a cluster need.
import type { Backplane } from "../backplane/backplane.ts";
import { JoinedCluster } from "../backplane/joined-cluster.ts";
import type { EngineSource } from "../backplane/engine.ts";
import { checkBackplaneOptions } from "../backplane/options.ts";
import { ConfigurationError } from "../base/errors.ts";
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
