// The routes beside POST: GET, which opens or resumes a stream of a session, DELETE, which ends the session, the metadata
// documents of `auth`, and the health check.
import { jsonHeaders, refuseWith } from "./edge/replies.ts";
import type { HttpExchange } from "./exchange.ts";
import { findSession, refuseVersion } from "./legacy-post.ts";
import type { HttpState } from "./state.ts";
import type { HttpHeaders } from "./edge/request.ts";

/** The methods that the endpoint supports. */
export function allowedMethods({ server, settings }: HttpState): string {
  const methods = server.mode === "stateless" ? "POST" : "GET, POST, DELETE";
  return settings.cors ? `${methods}, OPTIONS` : methods;
}

/** Refuses an HTTP method that the client's era, or this server, does not support. */
export function refuseMethod({ state, responder }: HttpExchange): void {
  const allow = allowedMethods(state);
  refuseWith(responder, 405, `Method not allowed: this MCP endpoint accepts ${allow}`, { allow });
}

export async function answerGet(exchange: HttpExchange): Promise<void> {
  const { request, responder, principal } = exchange;
  const session = await sessionOf(exchange);
  if (session === undefined) return;
  const lastEventId = request.header("last-event-id");
  if (lastEventId === undefined) return session.streams.open(responder, principal);
  if (!(await session.streams.resume(lastEventId, responder, principal))) {
    refuseWith(responder, 400, "This stream can no longer be resumed: send the request again");
  }
}

export async function answerDelete(exchange: HttpExchange): Promise<void> {
  const session = await sessionOf(exchange);
  if (session === undefined) return;
  await exchange.state.sessions.end(session, "deleted");
  exchange.responder.reply(204, {});
}

/** Whether a person opened the URL. */
function isBrowser(accept: string | undefined): boolean {
  return accept?.includes("text/html") ?? false;
}

/** The session of a GET or DELETE; undefined if it has refused the request. */
function sessionOf(exchange: HttpExchange): ReturnType<typeof findSession> {
  const { state, headerRevision, request, accepted, responder } = exchange;
  // Modern clients and stateless servers have no sessions.
  if (state.server.mode === "stateless" || headerRevision?.era === "modern") refuseMethod(exchange);
  else if (request.method === "GET" && !accepted.events && !isBrowser(request.header("accept"))) {
    refuseWith(responder, 406, "Accept must allow text/event-stream");
  } else if (!refuseVersion(exchange)) return findSession(exchange);
  return undefined;
}

const documentMethods = "GET, HEAD, OPTIONS";
const readable: HttpHeaders = { "access-control-allow-origin": "*" };

/** Responds to a request for one of the documents: without authentication, and to pages of any origin that the guard allows. */
export async function answerDocument(
  { state, request, responder }: HttpExchange,
  read: () => string | Promise<string>,
): Promise<void> {
  if (request.method === "OPTIONS") {
    const allowed = {
      "access-control-allow-methods": documentMethods,
      "access-control-allow-headers": "MCP-Protocol-Version",
      "access-control-max-age": "600",
    };
    responder.reply(204, { ...readable, ...allowed });
  } else if (request.method !== "GET" && request.method !== "HEAD") {
    refuseWith(responder, 405, "Method not allowed", { allow: documentMethods });
  } else {
    const headers = { ...jsonHeaders, ...readable, "cache-control": "public, max-age=300" };
    try {
      responder.reply(200, headers, await read());
    } catch (error) {
      state.rateLimitedLog.error(`Could not read ${request.path}`, { error });
      refuseWith(responder, 503, "Could not fetch the metadata document: try again later", {
        "retry-after": "5",
      });
    }
  }
}

const probeMethods = "GET, HEAD";
const probeHeaders: HttpHeaders = { "content-type": "text/plain", "cache-control": "no-store" };

/** Responds to a probe of a load balancer or an orchestrator from memory, without authentication or counting. */
export function answerHealth({ state, request, responder }: HttpExchange): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return refuseWith(responder, 405, `Method not allowed: use ${probeMethods}`, { allow: probeMethods });
  }
  const health = healthOf(state);
  responder.reply(health === "closing" ? 503 : 200, probeHeaders, health);
}

/**
 * Without the backplane a node still serves modern requests, so `degraded` keeps status 200: otherwise all nodes would be taken
 * out of service at once.
 */
function healthOf({ closing, server }: HttpState): "ok" | "degraded" | "closing" {
  if (closing) return "closing";
  return server.cluster.isReachable ? "ok" : "degraded";
}
