// What it takes to answer one method.
import type { JsonObject } from "../../wire/message.ts";
import type { Call } from "../call.ts";

export interface MethodHandler {
  /** The result in the neutral model, as middleware sees it. */
  run(call: Call): unknown;
  /** The result as the peer's revision can carry it; without it, as it is. */
  encode?(result: never, call: Call): JsonObject;
}
