// Refuses requests whose caller is not authenticated, or lacks a scope.
import {
  type Auth,
  type AuthRefusal,
  challenge,
  refusalBody,
  refuseScopes,
} from "../../auth/authenticate.ts";
import { errorCodes } from "../../base/errors.ts";
import { isGranted } from "../../protocol/principal.ts";
import { refuseWith } from "./edge/replies.ts";
import type { HttpHeaders } from "./edge/request.ts";
import type { HttpExchange } from "./exchange.ts";

/** Sends a refusal that `auth` has returned, and logs it. */
export function refuseAuth({ state, responder }: HttpExchange, refusal: AuthRefusal): void {
  const text = refusalBody(refusal);
  const { status, message, body, problem } = refusal;
  // Authors may write names of headers in any case; two spellings of one name would be sent twice.
  const given = Object.entries(refusal.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers = {
    // A 401 without a challenge is not valid HTTP (RFC 9110, section 15.5.2).
    ...(status === 401 && defaultChallenge(state.settings.auth)),
    ...(Object.fromEntries(given) as HttpHeaders),
  };
  if (problem === undefined) state.server.logger.debug(message);
  else state.rateLimitedLog.error(problem);
  if (text === undefined) return refuseWith(responder, status, message, headers);
  responder.refusals?.report(status, { code: errorCodes.invalidRequest, message });
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  responder.reply(status, { "content-type": type, ...headers }, text);
}

/** The challenge of a 401 whose author wrote none: it names the metadata document if `auth` has one. */
function defaultChallenge(auth: Auth | undefined): HttpHeaders {
  // The last document is that of the resource itself; others are for its whole host.
  const path = [...(auth?.documents?.keys() ?? [])].findLast((each) => each.startsWith(metadataPrefix));
  const isNamed = path !== undefined && auth?.resource !== undefined;
  return challenge(isNamed ? [`resource_metadata="${new URL(path, auth.resource).href}"`] : []);
}

const metadataPrefix = "/.well-known/oauth-protected-resource";

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
    // The author added a definition with scopes to a running endpoint without `auth`.
    problem:
      "A client requested a definition that requires scopes, but the endpoint has no auth: pass auth to the endpoint",
  };
  refuseAuth(exchange, refusal);
  return true;
}
