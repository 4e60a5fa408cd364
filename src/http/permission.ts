// Refuses requests whose caller is not authenticated, or lacks a scope.
import { type AuthRefusal, refusalBody, refuseScopes } from "../auth/authenticate.ts";
import { errorCodes } from "../errors.ts";
import { isGranted } from "../protocol/scopes.ts";
import { refuse } from "./edge/replies.ts";
import type { HttpHeaders } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";

/** Sends a refusal that `auth` has returned, and logs it. */
export function refuseAuth({ state, responder }: HttpExchange, refusal: AuthRefusal): void {
  const text = refusalBody(refusal);
  const { status, message, body, problem } = refusal;
  // Authors may write names of headers in any case; two spellings of one name would be sent twice.
  const given = Object.entries(refusal.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers = Object.fromEntries(given) as HttpHeaders;
  if (problem === undefined) state.server.logger.debug(message);
  else state.rateLimitedLog.error(problem);
  if (text === undefined) return refuse(responder, status, message, headers);
  responder.refusals?.report(status, { code: errorCodes.invalidRequest, message });
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  responder.reply(status, { "content-type": type, ...headers }, text);
}

/**
 * Refuses a message, or a whole batch, if the caller lacks a scope that it requires, and returns whether it did. Otherwise it sets
 * `checkedScopes`, so that the server does not check the scopes of the message again.
 */
export function refuseUnpermitted(exchange: HttpExchange, value: unknown): boolean {
  const { state, principal } = exchange;
  const needed = state.server.neededScopes(value);
  if (isGranted(needed, principal)) {
    if (!Array.isArray(value)) exchange.checkedScopes = needed;
    return false;
  }
  const refusal = state.settings.auth?.refuseScopes(needed, principal) ?? {
    ...refuseScopes(needed, principal, []),
    // The author has added a definition with scopes to a running endpoint without `auth`.
    problem:
      "A client requested a definition that requires scopes: pass auth to the endpoint, or nobody can use it",
  };
  refuseAuth(exchange, refusal);
  return true;
}
