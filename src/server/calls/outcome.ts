// How a call ended: its outcome, and why it failed.
import { copyOf } from "../../base/errors.ts";
import { isObject, type JsonObject, type RpcResponse } from "../../base/wire/message.ts";
import type { RequestEvent } from "../diagnostics/events.ts";
import type { Call } from "./call.ts";

/** The members of a request event that say how a call ended. */
export type CallOutcome = Pick<RequestEvent, "outcome" | "errorCode" | "errorId" | "reason">;

const ok: CallOutcome = { outcome: "ok" };

/** A result with `isError` counts as an error, too. */
export function isError(response: RpcResponse): boolean {
  return "error" in response || response.result["isError"] === true;
}

export function outcomeOf(call: Call, response: RpcResponse): CallOutcome {
  if (!isError(response)) return call.cancelled ? { outcome: "cancelled" } : ok;
  const outcome = call.cancelled ? "cancelled" : "error";
  const errorId = call.failed?.errorId;
  if (!("error" in response)) return { outcome, errorId, reason: textIn(response.result) };
  const { code, message } = response.error;
  return { outcome, errorCode: code, errorId, reason: cut(message) };
}

/** Characters of a reason. Past it, the text is cut. */
const maxReason = 500;

/** The first text of a result with `isError`. */
function textIn({ content }: JsonObject): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const first: unknown = content.find((block) => isObject(block) && block["type"] === "text");
  return isObject(first) ? cut(String(first["text"])) : undefined;
}

function cut(text: string): string {
  return text.length <= maxReason ? text : copyOf(`${text.slice(0, maxReason)}…`);
}
