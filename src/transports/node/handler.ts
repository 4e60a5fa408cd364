// `nodeHandler`: a handler to mount in Express, Fastify or plain Node.
import type { IncomingMessage, ServerResponse } from "node:http";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { checkOptions } from "../../base/options.ts";
import { portOf, type Servable } from "../../server/calls/port.ts";
import { Endpoint, type HttpStats } from "../http/endpoint.ts";
import { hostsFor } from "../http/guard.ts";
import { mountPlace } from "../http/misnamed.ts";
import { type HttpOptions, knownHttpOptions } from "../http/options.ts";
import { assertNodeHttp, NodeRequest } from "./edge.ts";
import { NodeResponder, turnOf } from "./responder.ts";

/** A handler for `node:http`. Its promise resolves when the request has been answered. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Resolves when this process has joined the cluster of `backplane`, or rejects; at once without a backplane. */
  readonly ready: Promise<void>;
  /** Counts of what is open now. */
  stats(): HttpStats;
  /** Refuses new requests, lets running calls finish within `graceMs`, and closes every stream. */
  close(): Promise<void>;
}

/**
 * Returns a handler to mount: in Express with `app.all("/mcp", handler)`, in Fastify after `reply.hijack()`, in plain Node as the
 * request listener. If other machines can reach it, list the hosts that clients use in `allowedHosts`.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { McpServer } from "halyard";
 * import { nodeHandler } from "halyard/node";
 *
 * const handler = nodeHandler(new McpServer({ name: "demo", version: "1.0.0" }));
 * const http = createServer(handler).listen(0, "127.0.0.1");
 * http.close();
 * await handler.close();
 * ```
 */
export function nodeHandler(server: Servable, options: HttpOptions = {}): NodeHandler {
  // Check the server first, because a framework may have been given this function instead of the handler that it returns.
  const port = portOf(server, "HTTP");
  checkOptions(mountPlace, options, knownHttpOptions);
  const handler = toHandler(new Endpoint(port, options, hostsFor([], options)));
  logRejection(port.logger, "Joining the cluster", handler.ready);
  return handler;
}

const taken =
  "Other code has sent the response before the MCP handler: in Fastify, call reply.hijack() first; in Express, do not respond before it";

/** The handler of an endpoint. */
export function toHandler(endpoint: Endpoint): NodeHandler {
  let isWarned = false;
  const warnOfTaken = (): void => {
    if (!isWarned) endpoint.state.rateLimitedLog.warn(taken);
    isWarned = true;
  };
  const answer = (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A framework that mounts the handler under a prefix keeps the whole URL here.
    const { originalUrl = message.url ?? "/" } = message as { originalUrl?: string };
    const request = new NodeRequest(message, originalUrl, endpoint.settings.trustedProxies);
    const responder = new NodeResponder(response, request, endpoint.unsent);
    responder.onTaken = warnOfTaken;
    return endpoint.handle(request, responder);
  };
  const handler = (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    assertNodeHttp(message, response);
    const turn = turnOf(response);
    if (turn === undefined) return answer(message, response);
    return turn.then((isOpen) => (isOpen ? answer(message, response) : undefined));
  };
  const { ready } = endpoint;
  return Object.assign(handler, { ready, stats: () => endpoint.stats(), close: () => endpoint.close() });
}
