// Calls from pages of other origins, where the author allows them.
import type { HttpHeaders, HttpRequest, HttpResponder } from "./exchange.ts";

/** A responder whose answers the calling page may read. The guard has let its origin through. */
export function withCors(request: HttpRequest, responder: HttpResponder): HttpResponder {
  const origin = request.header("origin");
  if (origin === undefined) return responder;
  const allowed = {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate",
    vary: "Origin",
  };
  return {
    reply: (status, headers, body) => responder.reply(status, { ...headers, ...allowed }, body),
    stream: (headers) => responder.stream({ ...headers, ...allowed }),
    onGone: (callback) => responder.onGone(callback),
  };
}

/** What a page may send. */
export function preflightHeaders(methods: string): HttpHeaders {
  return {
    "access-control-allow-methods": methods,
    "access-control-allow-headers":
      "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID",
    "access-control-max-age": "600",
  };
}
