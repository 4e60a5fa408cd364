// Calls from pages of other origins, where the author allows them.
import type { HttpHeaders, HttpRequest, HttpResponder } from "../edge/request.ts";

/** Which pages of other origins may call, from a browser. */
export interface CorsOptions {
  /** Their origins, or `*`. */
  readonly origins: readonly string[];
}

/** A responder whose answers the calling page may read, if it is one of those that were named. */
export function withCors(cors: CorsOptions, request: HttpRequest, responder: HttpResponder): HttpResponder {
  const origin = request.header("origin");
  // The guard lets pages of this machine through too; that they may call does not mean that they may read.
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

/** What a page may send. The headers of tool arguments have the names that their tools give them. */
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
