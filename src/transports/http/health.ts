// Responds to the probes of a load balancer or an orchestrator from memory, without authentication or counting.
import { refuseWith } from "./edge/replies.ts";
import type { HttpHeaders } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";
import type { HttpState } from "./state.ts";

const methods = "GET, HEAD";
const headers: HttpHeaders = { "content-type": "text/plain", "cache-control": "no-store" };

/** Responds to a request for the path of `health`. */
export function answerHealth({ state, request, responder }: HttpExchange): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return refuseWith(responder, 405, `Method not allowed: use ${methods}`, { allow: methods });
  }
  const health = healthOf(state);
  responder.reply(health === "closing" ? 503 : 200, headers, health);
}

/**
 * Without the backplane a node still serves modern requests, so `degraded` keeps status 200: otherwise all nodes would be taken
 * out of service at once.
 */
function healthOf({ closing, server }: HttpState): "ok" | "degraded" | "closing" {
  if (closing) return "closing";
  return server.cluster.isReachable ? "ok" : "degraded";
}
