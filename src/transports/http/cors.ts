// CORS headers: which pages of other origins may call, and read the response.
import type { HttpHeaders, HttpRequest } from "./edge/request.ts";

/** Which pages of other origins may call from a browser. */
export interface CorsOptions {
  /** Their origins, or `*`. */
  readonly origins: readonly string[];
}

/** The headers that let the calling page read the response, if `cors` names its origin. */
export function corsHeaders({ origins }: CorsOptions, request: HttpRequest): HttpHeaders | undefined {
  const origin = request.header("origin");
  const isOrigin = (named: string): boolean => named === "*" || named.toLowerCase() === origin?.toLowerCase();
  // The guard also admits pages of allowed hosts, such as localhost, but those may not read the response.
  if (origin === undefined || !origins.some(isOrigin)) return undefined;
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate, Retry-After",
    vary: "Origin",
  };
}

const allowedHeaders =
  "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID";

/** Whether a browser asks if a page may send a request. */
export function isPreflight(request: HttpRequest): boolean {
  return request.method === "OPTIONS" && request.header("access-control-request-method") !== undefined;
}

/** The reply to a preflight request. Allows any `Mcp-Param-` header, since tools choose those names. */
export function preflightHeaders(request: HttpRequest, methods: string): HttpHeaders {
  const wanted = request.header("access-control-request-headers")?.split(",") ?? [];
  const params = wanted
    .map((name) => name.trim())
    .filter((name) => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i.test(name));
  return {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": [allowedHeaders, ...params].join(", "),
    "access-control-max-age": "600",
  };
}
