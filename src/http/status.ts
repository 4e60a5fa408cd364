// The HTTP status of an answer to a modern client, who can tell from it what happened; a legacy one gets 200.
import { errorCodes } from "../errors.ts";
import type { RpcResponse } from "../wire/message.ts";

const statuses: ReadonlyMap<number, number> = new Map<number, number>([
  [errorCodes.parse, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingClientCapability, 400],
  [errorCodes.unsupportedVersion, 400],
]);

export function statusOf(response: RpcResponse): number {
  return ("error" in response && statuses.get(response.error.code)) || 200;
}
