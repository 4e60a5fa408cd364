// CORS headers: which pages of other origins may call, and read the response.
import type { HttpHeaders, HttpRequest, HttpResponder } from "../edge/request.ts";

/** Which pages of other origins may call from a browser. */
export interface CorsOptions {
  /** Their origins, or `*`. */
  readonly origins: readonly string[];
}

/** A responder that adds CORS headers, if `cors` names the origin of the calling page. */
export function withCors(cors: CorsOptions, request: HttpRequest, responder: HttpResponder): HttpResponder {
  const origin = request.header("origin");
  // The guard also admits pages of allowed hosts, such as localhost, but those may not read the response.
  if (origin === undefined || !isNamed(cors, origin)) return responder;
  const allowed = {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate, Retry-After",
    vary: "Origin",
  };
  return {
    refusals: responder.refusals,
    reply: (status, headers, body) => responder.reply(status, { ...headers, ...allowed }, body),
    stream: (headers) => responder.stream({ ...headers, ...allowed }),
    onGone: (callback) => responder.onGone(callback),
    get gone() {
      return responder.gone;
    },
  };
}

function isNamed({ origins }: CorsOptions, origin: string): boolean {
  return origins.some((named) => named === "*" || named.toLowerCase() === origin.toLowerCase());
}

const allowedHeaders =
  "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID";

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
