// A POST whose body has been read.
import type { Principal } from "../protocol/model.ts";
import { Connection } from "../server/connection.ts";
import type { Incoming } from "../wire/message.ts";
import type { Accepted } from "./accept.ts";
import { addressKey } from "../limits/address-key.ts";
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

/** A connection of this request alone; without a principal its address is what it counts as. */
export function ownConnection({ request, principal }: Post): Connection {
  return new Connection({ transport: "http", principal, caller: addressKey(request.address ?? "") });
}
