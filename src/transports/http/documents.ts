// Serves the metadata documents of `auth`: without authentication, and to pages of any origin that the guard allows.
import { jsonHeaders, refuseWith } from "./edge/replies.ts";
import type { HttpHeaders } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";

const methods = "GET, HEAD, OPTIONS";
const readable: HttpHeaders = { "access-control-allow-origin": "*" };

/** Responds to a request for one of the documents. */
export async function answerDocument(
  { state, request, responder }: HttpExchange,
  read: () => string | Promise<string>,
): Promise<void> {
  if (request.method === "OPTIONS") {
    const allowed = {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "MCP-Protocol-Version",
      "access-control-max-age": "600",
    };
    responder.reply(204, { ...readable, ...allowed });
  } else if (request.method !== "GET" && request.method !== "HEAD") {
    refuseWith(responder, 405, "Method not allowed", { allow: methods });
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
