// A POST whose body has been read.
import type { Load } from "../limits/loads.ts";
import type { Principal } from "../protocol/model.ts";
import { Connection } from "../server/context/connection.ts";
import type { Incoming } from "../wire/message.ts";
import type { Accepted } from "./accept.ts";
import type { HttpRequest, HttpResponder } from "./edge/request.ts";

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
  /** What it weighs. */
  readonly load: Load;
}

/** A connection of this request alone; without a principal its address is what it counts as. */
export function ownConnection({ request, principal }: Post): Connection {
  return new Connection({ transport: "http", principal, caller: request.caller });
}
