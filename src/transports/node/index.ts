/**
 * Streamable HTTP on `node:http`: a complete server, or a handler to mount in Express, Fastify or plain Node.
 *
 * @module
 */
export type { HttpStats } from "../http/endpoint.ts";
export type { HttpRequest } from "../http/edge/request.ts";
export type { CorsOptions } from "../http/cors.ts";
export { defaultHttpLimits, type HttpLimits } from "../http/limits.ts";
export type { EndpointDashboard, HttpOptions, LegacySseOptions, ServedEndpoint } from "../http/options.ts";
export { type CallerLimits, defaultCallerLimits, type RateLimitOptions } from "../http/rate-limit-options.ts";
export { type NodeHandler, nodeHandler } from "./handler.ts";
export { type HttpServer, serveHttp, type ServeHttpOptions } from "./serve.ts";
export type { Site, SiteBody, SiteBodyLimits, SiteReply, SiteRequest } from "../http/site.ts";
export { nodeSite, type NodeSiteHandler } from "./site.ts";
