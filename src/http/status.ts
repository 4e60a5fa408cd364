// The HTTP status of an answer: a modern client can tell from it what happened, a legacy one always gets 200.
import { errorCodes } from "../errors.ts";
import type { RpcResponse } from "../wire/message.ts";

const modernStatuses: ReadonlyMap<number, number> = new Map<number, number>([
  [errorCodes.parse, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingClientCapability, 400],
  [errorCodes.unsupportedVersion, 400],
]);

export function statusOf(response: RpcResponse, era: "modern" | "legacy"): number {
  if (era === "legacy" || !("error" in response)) return 200;
  return modernStatuses.get(response.error.code) ?? 200;
}
