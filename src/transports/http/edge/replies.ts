// The replies that the endpoint writes itself: refusals, and the headers of every reply.
import { errorCodes } from "../../../base/errors.ts";
import type { RequestId, RpcError } from "../../../base/wire/message.ts";
import type { HttpHeaders, HttpResponder } from "./request.ts";

export const jsonHeaders: HttpHeaders = { "content-type": "application/json" };

export const eventHeaders: HttpHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** Refuses a request with a JSON-RPC error. */
export function refuseWith(
  responder: HttpResponder,
  status: number,
  message: string,
  headers: HttpHeaders = {},
): void {
  replyError(responder, status, { code: errorCodes.invalidRequest, message }, undefined, headers);
}

/** Refuses a request because the server is closing. */
export function refuseClosing(responder: HttpResponder): void {
  refuseWith(responder, 503, "The server is shutting down", { "retry-after": "1" });
}

/** Refuses a request because its caller exceeds a rate limit. */
export function refuseTooMany(responder: HttpResponder, retryAfter: number): void {
  const message = `Too many requests: try again in ${retryAfter} ${retryAfter === 1 ? "second" : "seconds"}`;
  refuseWith(responder, 429, message, { "retry-after": String(retryAfter) });
}

export function replyError(
  responder: HttpResponder,
  status: number,
  error: RpcError,
  id?: RequestId | null,
  headers: HttpHeaders = {},
): void {
  responder.refusals?.report(status, error);
  responder.reply(status, { ...jsonHeaders, ...headers }, JSON.stringify({ jsonrpc: "2.0", id, error }));
}

/** Accepts a message that gets no response. */
export function accept(responder: HttpResponder): void {
  responder.reply(202, {});
}
