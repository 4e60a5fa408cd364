// What it takes to answer one method.
import type { Call } from "./call.ts";

export interface MethodHandler {
  /** The result in the neutral model, as middleware sees it. */
  run(call: Call): unknown;
  /** The result as the peer's revision can carry it, in an object of its own; without it, as it is. */
  encode?(result: never, call: Call): Record<string, unknown>;
  /** The result that a failure comes to once middleware has let it pass; undefined when it is an error of the protocol. */
  recover?(error: unknown, call: Call): unknown;
}
