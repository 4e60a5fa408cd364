// A POST whose body has been read.
import type { Principal } from "../protocol/model.ts";
import type { Incoming } from "../wire/message.ts";
import type { Accepted } from "./accept.ts";
import type { HttpRequest, HttpResponder } from "./exchange.ts";

/** A POST whose body has been read. */
export interface Post {
  readonly request: HttpRequest;
  readonly responder: HttpResponder;
  readonly principal: Principal | undefined;
  readonly accepted: Accepted;
  /** What the body holds: a message, or whatever else. */
  readonly value: unknown;
  /** The same, read. */
  readonly incoming: Incoming;
}
