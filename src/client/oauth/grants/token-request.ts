// Asks the token endpoint, for every grant, and says what is wrong when there is no token.
import * as oauth from "oauth4webapi";
import { Secrets } from "../../redaction/secrets.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError, shown } from "../settings/errors.ts";
import type { Party } from "./grant.ts";
import { readReply, remedyOf, type TokenReply } from "./reply.ts";

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

/** Sends the request of one grant with a function of oauth4webapi, and with these parameters beside its own. */
type Send = (
  who: readonly [as: oauth.AuthorizationServer, client: oauth.Client, authentication: oauth.ClientAuth],
  parameters: Readonly<Record<string, string>>,
  options: oauth.TokenEndpointRequestOptions,
) => Promise<Response>;

/** Asks for tokens: once more if the authorization server wants its nonce in the proof. */
export async function requestTokens(
  party: Party,
  send: Send,
  tokenTypes: readonly string[] = [party.dpop ? "dpop" : "bearer"],
): Promise<oauth.TokenEndpointResponse> {
  for (let isLast = party.dpop === undefined; ; isLast = true) {
    const reply = await ask(party, send);
    const { response, body, error } = reply;
    if (response.ok && body && error === undefined) return read(party, body, tokenTypes);
    if (isLast || error !== "use_dpop_nonce") throw refusal(party, reply);
  }
}

async function ask(party: Party, send: Send): Promise<TokenReply> {
  const { as, authentication, resource, scopes, net, dpop, signal } = party;
  const secrets = new Secrets();
  const options = await net.endpoint(as.token_endpoint as string, secrets, signal);
  const parameters = { resource, ...(scopes.length > 0 && { scope: scopes.join(" ") }) };
  try {
    const asked = { ...options, ...(dpop && { DPoP: dpop.handle }) };
    return await readReply(await send([as, named(party), authentication], parameters, asked), secrets);
  } catch (error) {
    if (error instanceof OAuthError) throw error;
    throw failure(party, `cannot be asked: ${(error as Error).message}`);
  }
}

/** oauth4webapi takes no client without an id. Its authentication decides whether an id is sent. */
function named({ client }: Party): oauth.Client {
  return { ...client, client_id: client.client_id || "unnamed" };
}

/** Passes on to oauth4webapi only what is used, because other members often are not what they should be. */
async function read(
  party: Party,
  body: NonNullable<TokenReply["body"]>,
  tokenTypes: readonly string[],
): Promise<oauth.TokenEndpointResponse> {
  const { token_type: type, access_token: token, refresh_token: refreshToken } = body;
  const name = String(type).toLowerCase();
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
  const used = {
    access_token: token,
    token_type: type,
    // A time that makes no sense says nothing: the server refuses the token when it has expired.
    ...(seconds >= 0 && Number.isFinite(seconds * 1000) && { expires_in: seconds }),
    ...(typeof refreshToken === "string" && refreshToken !== "" && { refresh_token: refreshToken }),
    issued_token_type: body["issued_token_type"] as oauth.JsonValue | undefined,
  };
  const recognizedTokenTypes = { n_a: () => {} };
  const response = new Response(JSON.stringify(used));
  try {
    return await oauth.processGenericTokenEndpointResponse(party.as, named(party), response, {
      recognizedTokenTypes,
    });
  } catch (error) {
    throw failure(party, `issued no token: ${(error as Error).message}`);
  }
}

function refusal(party: Party, { response, body, error, problem }: TokenReply): OAuthError {
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

/** Without the error of oauth4webapi as its cause, because that holds the token. */
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
