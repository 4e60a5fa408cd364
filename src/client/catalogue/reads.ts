// Reads resources, from the cache where the server allows it.
import type { ReadResourceResult } from "../../protocol/model.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { ResultCache } from "../cache/result-cache.ts";
import { InvalidResponse } from "../settings/errors.ts";
import type { CallOptions } from "../settings/options.ts";

/** Reads a resource. The result is frozen. */
export async function readResource(
  cache: ResultCache,
  uri: string,
  options?: CallOptions,
): Promise<ReadResourceResult> {
  const lookup = { method: "resources/read", params: { uri }, read: readContents };
  return (await cache.get(lookup, options)).value;
}

function readContents(result: JsonObject): ReadResourceResult {
  const isAsking = result["resultType"] === "input_required";
  if (!isAsking && !Array.isArray(result["contents"]))
    throw new InvalidResponse("resources/read: the result has no array contents");
  return result as unknown as ReadResourceResult;
}
