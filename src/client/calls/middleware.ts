// Middleware: functions of the user that run around every request of a client, the first one outermost.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { HalyardError } from "../../base/errors.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** A request as middleware sees it. */
export interface ClientRequest {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly options: CallOptions;
}

/**
 * Runs around every request. Call `next()` to continue, with a changed request if you like, and return its result.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { type ClientMiddleware, connect } from "halyard/client";
 *
 * const timed: ClientMiddleware = async ({ method }, next) => {
 *   const start = performance.now();
 *   try {
 *     return await next();
 *   } finally {
 *     console.error(method, performance.now() - start);
 *   }
 * };
 * const client = await connect(new McpServer({ name: "demo", version: "1.0.0" }));
 * client.use(timed);
 * await client.close();
 * ```
 */
export type ClientMiddleware = (
  request: ClientRequest,
  next: (changed?: Partial<ClientRequest>) => Promise<JsonObject>,
) => Promise<JsonObject>;

/** Sends a request through all middleware. */
export function sendThrough(
  middleware: readonly ClientMiddleware[],
  request: ClientRequest,
  send: (request: ClientRequest) => Promise<JsonObject>,
): Promise<JsonObject> {
  const run = async (at: number, current: ClientRequest): Promise<JsonObject> => {
    const layer = middleware[at];
    if (layer === undefined) return send(current);
    const result: unknown = await layer(current, (changed) => run(at + 1, { ...current, ...changed }));
    if (isObject(result)) return result;
    throw new HalyardError("INVALID_OPTION", "Middleware returned no result. Return the value of `next()`");
  };
  return run(0, request);
}
