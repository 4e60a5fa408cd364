// The contract of backplanes, as checks that any test runner can run.
import type { EngineSource } from "../../cluster/engine/engine.ts";
import { logChecks } from "./logs.ts";
import { messageChecks } from "./messages.ts";
import { ContractNodes } from "./nodes.ts";
import { valueChecks } from "./values.ts";

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

/** One check of a store contract. */
export interface StoreCheck<Store> {
  readonly title: string;
  /** Rejects if the store that `make` returns fails the check. */
  run(make: () => Store | Promise<Store>): Promise<void>;
}

/** The checks of a contract, from functions by title. */
function contractOf<Store>(
  checks: Readonly<Record<string, (store: Store) => Promise<void>>>,
): readonly StoreCheck<Store>[] {
  return Object.entries(checks).map(([title, check]) => ({
    title,
    run: async (make) => {
      if (typeof make !== "function")
        throw new TypeError("run takes a function that makes what it checks: run(() => memoryBackplane())");
      await check(await make());
    },
  }));
}
