// Asks the token endpoint, for every grant, and says what is wrong when there is no token.
import {
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
  type TokenEndpointRequestOptions,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { isObject } from "../../../wire/message.ts";
import { shown, shownUrl } from "../net/shown.ts";
import { OAuthError } from "../settings/errors.ts";
import type { Party } from "./grant.ts";

/** The authorization server said no, and why. */
export class TokenRefusal extends OAuthError {
  /** The `error` of its response, such as "invalid_grant". */
  readonly error: string;

  constructor(error: string, message: string) {
    super("denied", message);
    this.error = error;
  }
}

/** What to do about an `error`. */
const remedies: { readonly [error: string]: string } = {
  invalid_client: "check clientId, and the secret or the key that belongs to it",
  invalid_grant:
    "the code, token or assertion has expired, was used before, or is for another client or audience",
  invalid_scope: "ask for other scopes, or allow these for the client",
  invalid_target: "tell the authorization server of this resource",
  unauthorized_client: "allow this grant for the client",
  unsupported_grant_type: "enable this grant at the authorization server",
  invalid_dpop_proof: "check the clock of this machine, or drop the option dpop",
  use_dpop_nonce: "it wants another nonce each time, which is a fault of the authorization server",
};

/** Asks for tokens with any grant that sends no more than parameters. */
export function requestGrant(
  party: Party,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
  tokenTypes?: readonly string[],
): Promise<TokenEndpointResponse> {
  const { as, client, authentication, resource, scopes } = party;
  const scope = scopes.length === 0 ? undefined : { scope: scopes.join(" ") };
  const body = { ...parameters, resource, ...scope };
  // Only a workload may have no id, and oauth4webapi insists on one.
  const named = { ...client, client_id: client.client_id || "-" };
  return requestTokens(
    party,
    (options) => genericTokenEndpointRequest(as, named, authentication, grantType, body, options),
    tokenTypes,
  );
}

/** Sends a token request, once more if the authorization server wants its nonce in the proof, and reads the response. */
export async function requestTokens(
  party: Party,
  send: (options: TokenEndpointRequestOptions) => Promise<Response>,
  tokenTypes: readonly string[] = [party.dpop ? "dpop" : "bearer"],
): Promise<TokenEndpointResponse> {
  const { net, dpop } = party;
  const options = {
    [customFetch]: net.fetch as TokenEndpointRequestOptions[typeof customFetch],
    [allowInsecureRequests]: true,
    ...(dpop && { DPoP: dpop }),
  };
  for (let isLast = dpop === undefined; ; isLast = true) {
    const response = await send(options).catch((error: unknown) => {
      throw error instanceof OAuthError ? error : failure(party, `was not asked: ${causeOf(error)}`);
    });
    const text = await response.text();
    const body = parse(text);
    if (response.ok && body && typeof body["error"] !== "string") return read(party, body, tokenTypes);
    if (isLast || body?.["error"] !== "use_dpop_nonce") throw refusal(party, response, body, text);
  }
}

/** What went wrong, in the words of the authorization server or of oauth4webapi. */
export function causeOf(error: unknown): string {
  if (!(error instanceof ResponseBodyError)) return error instanceof Error ? error.message : shown(error);
  return said(error.error, error.error_description);
}

async function read(
  party: Party,
  body: Record<string, unknown>,
  tokenTypes: readonly string[],
): Promise<TokenEndpointResponse> {
  const { token_type: type, access_token: token } = body;
  if (!tokenTypes.includes(String(type).toLowerCase())) {
    const remedy = party.dpop
      ? "enable DPoP for this client there, or drop the option dpop"
      : "set the option dpop if it is DPoP";
    throw failure(
      party,
      `issued a token of the type ${shown(type)}, not ${tokenTypes.join(" or ")}: ${remedy}`,
    );
  }
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw failure(party, "issued no access_token that a header can carry");
  try {
    // The types are checked above; oauth4webapi checks and converts the rest.
    const response = new Response(JSON.stringify({ ...body, token_type: "bearer" }));
    const tokens = await processGenericTokenEndpointResponse(party.as, { client_id: "-" }, response);
    return { ...tokens, token_type: String(type).toLowerCase() as TokenEndpointResponse["token_type"] };
  } catch (error) {
    // Without its cause, which holds the tokens.
    throw failure(party, `issued tokens that are not valid: ${causeOf(error)}`);
  }
}

/** Leaves out what says nothing, and ID tokens: nobody looks at them, so they need not be verified. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text, (name, value: unknown) =>
      value === null || name === "id_token" ? undefined : value,
    );
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function refusal(
  party: Party,
  response: Response,
  body: Record<string, unknown> | undefined,
  text: string,
): OAuthError {
  const { status, headers } = response;
  const error = body?.["error"];
  if (typeof error !== "string" || status >= 500 || status === 429) {
    const page = /^\s*</.test(text) ? " and an HTML page" : body ? "" : " and no JSON";
    return failure(
      party,
      `responded with HTTP status ${status}${page}: try again later, or check token_endpoint in its metadata`,
    );
  }
  const remedy = Object.hasOwn(remedies, error) ? `: ${remedies[error]}` : "";
  const why = said(error, body?.["error_description"]);
  return new TokenRefusal(
    error,
    `${endpointOf(party)} refused with ${why}${remedy}${clockDifference(headers)}`,
  );
}

function failure(party: Party, problem: string): OAuthError {
  return new OAuthError("token", `${endpointOf(party)} ${problem}`);
}

function endpointOf({ as: { issuer, token_endpoint: endpoint } }: Party): string {
  return endpoint !== undefined && URL.canParse(endpoint)
    ? shownUrl(endpoint)
    : `The token_endpoint ${shown(endpoint)} of ${issuer}`;
}

function said(error: string, description: unknown): string {
  return typeof description === "string" ? `${shown(error)} (${shown(description)})` : shown(error);
}

/** Proofs and assertions hold the time: a clock that is wrong is the likely cause. */
function clockDifference(headers: Headers): string {
  const seconds = Math.round((Date.now() - Date.parse(headers.get("date") ?? "")) / 1000);
  if (!(Math.abs(seconds) > 30)) return "";
  const relation = seconds > 0 ? "ahead of" : "behind";
  return `. The clock of this machine is ${Math.abs(seconds)} s ${relation} that of the authorization server`;
}
