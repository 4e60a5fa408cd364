/**
 * Streamable HTTP as `(Request) => Promise<Response>`, for Hono, Bun, Deno, Workers and other fetch-based hosts.
 *
 * @module
 */
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { Endpoint, type HttpStats } from "../http/endpoint.ts";
import { hostsFor } from "../http/guard.ts";
import { type HttpOptions, knownHttpOptions } from "../http/options.ts";
import { mountPlace } from "../http/misnamed.ts";
import { checkOptions } from "../../base/options.ts";
import { portOf, type Servable } from "../../server/calls/port.ts";
import { FetchRequest, FetchResponder } from "./edge.ts";

export type { HttpStats } from "../http/endpoint.ts";
export type { HttpRequest } from "../http/edge/request.ts";
export type { CorsOptions } from "../http/cors.ts";
export { defaultHttpLimits, type HttpLimits } from "../http/limits.ts";
export type { EndpointDashboard, HttpOptions, LegacySseOptions, ServedEndpoint } from "../http/options.ts";
export { type CallerLimits, defaultCallerLimits, type RateLimitOptions } from "../http/rate-limit-options.ts";
export type { Site, SiteBody, SiteBodyLimits, SiteReply, SiteRequest } from "../http/site.ts";
export { fetchSite, type FetchSiteHandler } from "./site.ts";

/** Responds to web-standard requests. */
export interface FetchHandler {
  (request: Request): Promise<Response>;
  /** Resolves when this process has joined the cluster of `backplane`, or rejects; at once without a backplane. */
  readonly ready: Promise<void>;
  stats(): HttpStats;
  close(): Promise<void>;
}

/**
 * Returns a handler for web-standard requests. If other machines can reach it, list the hosts that clients use in `allowedHosts`.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { fetchHandler } from "halyard/fetch";
 *
 * const handler = fetchHandler(new McpServer({ name: "demo", version: "1.0.0" }));
 * const response = await handler(new Request("http://localhost/mcp"));
 * console.log(response.status);
 * await handler.close();
 * ```
 */
export function fetchHandler(server: Servable, options: HttpOptions = {}): FetchHandler {
  const port = portOf(server, "HTTP");
  checkOptions(mountPlace, options, knownHttpOptions);
  const endpoint = new Endpoint(port, options, hostsFor([], options));
  const handler = (message: Request): Promise<Response> => {
    const request = new FetchRequest(message, endpoint.settings.trustedProxies);
    const responder = new FetchResponder(message.signal, request, endpoint.unsent);
    void endpoint.handle(request, responder);
    return responder.response;
  };
  const { ready } = endpoint;
  logRejection(port.logger, "Joining the cluster", ready);
  return Object.assign(handler, { ready, stats: () => endpoint.stats(), close: () => endpoint.close() });
}
