// A body that was not read, or not taken: what its sender is told.
import type { Load } from "../limits/loads.ts";
import type { HttpBody, HttpHeaders, HttpResponder } from "./edge/request.ts";
import { refuse } from "./edge/replies.ts";

type Unread = Extract<HttpBody, { readonly kind: "too-large" | "too-heavy" | "broken" }>;

/** Refuses a request whose body could not be read. True when it did. */
export function refuseUnread(
  body: HttpBody,
  maxBytes: number,
  responder: HttpResponder,
  load: Load,
): body is Unread {
  if (body.kind === "too-large")
    refuse(responder, 413, `The body is larger than ${maxBytes} bytes`, { connection: "close" });
  else if (body.kind === "too-heavy") refuseHeavy(responder, load, { connection: "close" });
  else if (body.kind === "broken") refuse(responder, 400, "The body ended before it was complete");
  else return false;
  return true;
}

/** There is no room for the message until others have been answered: those of its caller, or those of all. */
export function refuseHeavy(responder: HttpResponder, load: Load, headers: HttpHeaders = {}): void {
  const retry = { ...headers, "retry-after": "1" };
  if (load.isCrowdedOut) refuse(responder, 503, "The server has too much to answer: try again later", retry);
  else refuse(responder, 429, "Too much of yours is being answered: wait for an answer", retry);
}
