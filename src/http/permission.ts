// Refusals of authentication and authorization, before anything of a request is done.
import { type AuthRefusal, refuseScopes } from "../auth/authenticate.ts";
import { isGranted } from "../protocol/scopes.ts";
import { refuse } from "./edge/replies.ts";
import type { HttpExchange } from "./exchange.ts";

/** Refuses a request as `auth` says. */
export function refuseAuth({ state, responder }: HttpExchange, refusal: AuthRefusal): void {
  const { status, message, headers, problem } = refusal;
  if (problem === undefined) state.server.logger.debug(message);
  else state.rateLimitedLog.error(problem);
  refuse(responder, status, message, headers);
}

/**
 * Refuses a message, or a whole batch, whose caller lacks a scope that one of its requests needs. True when it did; otherwise
 * the scopes of a message have been checked, and the server does not look for them again.
 */
export function refuseUnpermitted(exchange: HttpExchange, value: unknown): boolean {
  const { state, principal } = exchange;
  const needed = state.server.neededScopes(value);
  if (isGranted(needed, principal)) {
    if (!Array.isArray(value)) exchange.checkedScopes = needed;
    return false;
  }
  const { auth } = state.settings;
  if (auth !== undefined) {
    refuseAuth(exchange, auth.refuseScopes(needed, principal));
    return true;
  }
  // The definition came after the endpoint was made without a way to tell who is calling.
  const problem = "A definition with scopes was asked for, and the endpoint has no auth: nobody may use it";
  refuseAuth(exchange, { ...refuseScopes(needed, principal, []), problem });
  return true;
}
