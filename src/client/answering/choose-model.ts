// The choice of a model by the hints of a server that samples.
import type { ModelPreferences } from "../../protocol/asking.ts";
import { isObject } from "../../base/wire/message.ts";

/**
 * Chooses one of your models by the hints of a sampling request: the first hint that is part of a model's name wins. Returns
 * undefined if no hint matches: then choose by `costPriority`, `speedPriority` and `intelligencePriority`, or take your default.
 *
 * @example
 * ```ts
 * import { chooseModel } from "halyard/client";
 *
 * const models = ["large-4", "small-4"];
 * const preferences = { hints: [{ name: "tiny" }, { name: "small" }] };
 * console.log(chooseModel(models, preferences) ?? models[0]);
 * ```
 */
export function chooseModel(
  models: readonly string[],
  preferences: ModelPreferences | undefined,
): string | undefined {
  // A server wrote the hints: they may be any values.
  const hints: unknown = preferences?.hints;
  for (const hint of Array.isArray(hints) ? (hints as unknown[]) : []) {
    const name = isObject(hint) ? hint["name"] : undefined;
    const isHint = typeof name === "string" && name !== "";
    const found = isHint ? models.find((model) => model.includes(name)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
