// Asks the token endpoint, for every grant, and says what is wrong when there is no token.
import type { JsonValue, TokenEndpointResponse } from "oauth4webapi";
import { shown } from "../net/shown.ts";
import { shownUrl } from "../../settings/shown.ts";
import { Secrets } from "../../redaction/secrets.ts";
import { OAuthError } from "../settings/errors.ts";
import type { Party } from "./grant.ts";
import { remedyOf } from "./remedies.ts";
import { readReply, type Reply } from "./reply.ts";

/** The authorization server said no, and why. */
export class TokenRefusal extends OAuthError {
  /** The `error` of its response, such as "invalid_grant". */
  readonly error: string;

  constructor(error: string, message: string) {
    super("denied", message);
    this.name = OAuthError.name;
    this.error = error;
  }
}

/** The parameters whose values are secret. */
const secretNames = /(?:^code|secret|verifier|_token|assertion)$/;

/** Asks for tokens: once more if the authorization server wants its nonce in the proof. */
export async function requestGrant(
  party: Party,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
  tokenTypes: readonly string[] = [party.dpop ? "dpop" : "bearer"],
): Promise<TokenEndpointResponse> {
  for (let isLast = party.dpop === undefined; ; isLast = true) {
    const reply = await send(party, { grant_type: grantType, ...parameters });
    const { response, body, error } = reply;
    if (response.ok && body && error === undefined) return read(party, body, tokenTypes);
    if (isLast || error !== "use_dpop_nonce") throw refusal(party, reply);
  }
}

async function send(party: Party, parameters: Readonly<Record<string, string>>): Promise<Reply> {
  const { as, client, authentication, resource, scopes, net, dpop, signal = null } = party;
  const url = as.token_endpoint as string;
  const body = new URLSearchParams({ ...parameters, resource });
  if (scopes.length > 0) body.set("scope", scopes.join(" "));
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  });
  await authentication(as, client, body, headers);
  if (dpop) headers.set("dpop", await dpop.header(url, "POST"));
  const request = { method: "POST", body, headers: Object.fromEntries(headers), signal };
  const response = await net.fetch(url, request);
  const nonce = response.headers.get("dpop-nonce");
  if (nonce !== null) dpop?.nonce(url, nonce, "issuer");
  return readReply(response, secretsOf(body, headers));
}

/** What nobody but the authorization server may see of a request. */
function secretsOf(body: URLSearchParams, headers: Headers): Secrets {
  const secrets = new Secrets();
  secrets.addAll(headers);
  for (const [name, value] of body) if (secretNames.test(name)) secrets.add("secret", value);
  return secrets;
}

function read(
  party: Party,
  body: NonNullable<Reply["body"]>,
  tokenTypes: readonly string[],
): TokenEndpointResponse {
  const { token_type: type, access_token: token, refresh_token: refreshToken } = body;
  const name = String(type).toLowerCase() as Lowercase<string>;
  if (!tokenTypes.includes(name)) {
    const remedy = party.dpop
      ? "enable DPoP for this client there, or drop the option dpop"
      : name === "dpop"
        ? "set the option dpop"
        : "change it there";
    throw failure(
      party,
      `issued a token with "token_type": ${shown(type)}, but it must be ${tokenTypes.join(" or ")}: ${remedy}`,
    );
  }
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw failure(party, "issued no access_token that a header can carry");
  const seconds = Number.parseFloat(String(body["expires_in"]));
  return {
    access_token: token,
    token_type: name,
    // A time that makes no sense says nothing: the server refuses the token when it has expired.
    ...(seconds >= 0 && Number.isFinite(seconds * 1000) && { expires_in: seconds }),
    ...(typeof refreshToken === "string" && { refresh_token: refreshToken }),
    issued_token_type: body["issued_token_type"] as JsonValue | undefined,
  };
}

function refusal(party: Party, { response, body, error, problem }: Reply): OAuthError {
  const { status, headers } = response;
  if (error === undefined || status >= 500 || status === 429) {
    return failure(
      party,
      `gave no token: ${problem}. Try again later, or check token_endpoint in the metadata`,
    );
  }
  const remedy = remedyOf(error, body?.["error_description"], party);
  return new TokenRefusal(
    error,
    `${endpointOf(party)} refused with ${problem}${remedy}${clockDifference(headers)}`,
  );
}

function failure(party: Party, problem: string): OAuthError {
  return new OAuthError("token", `${endpointOf(party)} ${problem}`);
}

function endpointOf({ as: { token_endpoint: endpoint } }: Party): string {
  return shownUrl(endpoint as string);
}

/** Proofs and assertions hold the time: a clock that is wrong is the likely cause. */
function clockDifference(headers: Headers): string {
  const seconds = Math.round((Date.now() - Date.parse(headers.get("date") ?? "")) / 1000);
  if (!(Math.abs(seconds) > 30)) return "";
  const relation = seconds > 0 ? "ahead of" : "behind";
  return `. The clock of this machine is ${Math.abs(seconds)} s ${relation} that of the authorization server`;
}
