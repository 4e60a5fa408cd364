// Who may not, and what for: the refusals of authorization, before anything of a request is done.
import { type AuthRefusal, refuseScopes } from "../auth/authenticate.ts";
import type { Principal } from "../protocol/model.ts";
import { isGranted } from "../protocol/scopes.ts";
import type { HttpResponder } from "./edge/request.ts";
import { refuse } from "./edge/replies.ts";
import type { HttpState } from "./state.ts";

/** Refuses a request as its door says. */
export function refuseAuth(state: HttpState, responder: HttpResponder, refusal: AuthRefusal): void {
  const { status, message, headers, problem } = refusal;
  if (problem === undefined) state.server.logger.debug(message);
  else state.rateLimitedLog.error(problem);
  refuse(responder, status, message, headers);
}

/** Refuses a message, or a whole batch, whose caller lacks a scope that one of its requests needs. True when it did. */
export function refuseUnpermitted(
  state: HttpState,
  responder: HttpResponder,
  value: unknown,
  principal: Principal | undefined,
): boolean {
  const needed = state.server.neededScopes(value);
  if (isGranted(needed, principal)) return false;
  const { auth } = state.settings;
  if (auth !== undefined) {
    refuseAuth(state, responder, auth.refuseScopes(needed, principal));
    return true;
  }
  // The definition came after the endpoint was made without a way to tell who is calling.
  const problem = "A definition with scopes was asked for, and the endpoint has no auth: nobody may use it";
  refuseAuth(state, responder, { ...refuseScopes(needed, principal, []), problem });
  return true;
}
