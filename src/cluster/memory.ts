// The backplane in the memory of one process, for servers that share it there, as in tests.
import type { Backplane } from "./node/backplane.ts";
import { type BackplaneOptions, checkBackplaneOptions } from "./engine/engine.ts";
import { Memory, MemoryEngine } from "./engine/memory-engine.ts";
import { backplaneOf } from "./backplane-of.ts";

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
