// The contract of backplanes, as checks that any test runner can run.
import type { EngineSource } from "../cluster/engine/engine.ts";
import { logChecks } from "./backplane-logs.ts";
import { messageChecks } from "./backplane-messages.ts";
import { ContractNodes } from "./backplane-nodes.ts";
import { valueChecks } from "./backplane-values.ts";
import { contractOf, type StoreCheck } from "./store-check.ts";

/**
 * The checks that a {@link Backplane} must pass. Run them against your own engine. Each check opens its own nodes, with a prefix
 * of its own, and closes them.
 *
 * @example
 * ```ts
 * import { memoryBackplane } from "halyard/cluster";
 * import { backplaneContract } from "halyard/testing";
 *
 * for (const { title, run } of backplaneContract()) {
 *   await run(() => memoryBackplane());
 *   console.log(title);
 * }
 * ```
 */
export function backplaneContract(...given: readonly never[]): readonly StoreCheck<EngineSource>[] {
  if (given.length > 0)
    throw new TypeError("backplaneContract() returns checks: pass what makes the backplane to run() of each");
  const checks = Object.entries({ ...valueChecks, ...logChecks, ...messageChecks });
  return contractOf(Object.fromEntries(checks.map(([title, check]) => [title, withNodes(check)])));
}

function withNodes(check: (nodes: ContractNodes) => Promise<void>) {
  return async (backplane: EngineSource): Promise<void> => {
    const nodes = new ContractNodes(backplane);
    try {
      await check(nodes);
    } finally {
      await nodes.close();
    }
  };
}
