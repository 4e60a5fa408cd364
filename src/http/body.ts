// A body that could not be read: what its sender is told.
import type { HttpBody, HttpResponder } from "./exchange.ts";
import { refuse } from "./replies.ts";

type Unread = Extract<HttpBody, { readonly kind: "too-large" | "broken" }>;

/** Refuses a request whose body could not be read. True when it did. */
export function refuseUnread(body: HttpBody, maxBytes: number, responder: HttpResponder): body is Unread {
  if (body.kind === "too-large")
    refuse(responder, 413, `The body is larger than ${maxBytes} bytes`, { connection: "close" });
  else if (body.kind === "broken") refuse(responder, 400, "The body ended before it was complete");
  else return false;
  return true;
}
