// A person signs in: the authorization code grant with PKCE, in a browser that the platform shows the address in.
import { platform } from "#oauth-platform";
import * as oauth from "oauth4webapi";
import { inBackground } from "../../../base/async/timers.ts";
import { OAuthError, type OAuthProblem, shown } from "../settings/errors.ts";
import { isLoopback } from "../../../base/addresses.ts";
import type { SignInSettings } from "../settings/options.ts";
import type { SignIn } from "../platform/platform.ts";
import type { Attempt, TokenGrant, Party, Returned } from "./grant.ts";
import { remedyOf } from "./reply.ts";
import { requestTokens } from "./token-request.ts";

/** An authorization request, as it is kept while the person is away. */
interface Asked {
  readonly server: string;
  readonly issuer: string;
  readonly client: oauth.Client;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
}

/** Lets a person sign in. Throws a ConfigurationError if that cannot work as `options` say on this runtime. */
export function personGrant(options: SignInSettings): TokenGrant {
  const { open, redirectUri, signInTimeoutMs } = options;
  const how = { open, redirectUri };
  platform.checkSignIn(how);
  return {
    byPerson: true,
    begin: async (registered) => attempt(await platform.beginSignIn(how, registered), signInTimeoutMs),
    ...(open === "redirect" && { returned: takeReturned }),
  };
}

function attempt(signIn: SignIn, timeMs: number): Attempt {
  return {
    redirectUri: signIn.redirectUri,
    async obtain(party, waiting) {
      try {
        const asked = ask(party, signIn.redirectUri);
        const url = await authorizationUrl(party, asked);
        waiting.signal.throwIfAborted();
        waiting.prompt(url);
        const answered = await answer(signIn, url, asked, timeMs);
        const tokens = await exchange(party, answered, asked);
        signIn.end();
        return tokens;
      } catch (error) {
        signIn.end(error instanceof OAuthError ? error.message : "The sign-in failed");
        throw error;
      }
    },
    end: () => signIn.end("The sign-in was cancelled"),
  };
}

function ask({ server, as, client, resource, scopes }: Party, redirectUri: string): Asked {
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
  return { server, issuer: as.issuer, client, resource, scopes, redirectUri, state, verifier };
}

/** Where the person has to go. Throws if a browser must not be sent there, or the server does not support PKCE. */
async function authorizationUrl({ as }: Party, asked: Asked): Promise<string> {
  requirePkce(as);
  const endpoint = as.authorization_endpoint;
  const url = new URL(endpoint ?? "about:blank");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url))) {
    throw new OAuthError(
      "forbidden-address",
      `${shown(as.issuer)} has authorization_endpoint ${shown(endpoint)}: it must be an https URL`,
    );
  }
  const parameters = {
    response_type: "code",
    client_id: asked.client.client_id,
    redirect_uri: asked.redirectUri,
    state: asked.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(asked.verifier),
    code_challenge_method: "S256",
    resource: asked.resource,
    scope: asked.scopes.join(" "),
    // OpenID Connect ignores offline_access unless the person is asked for it.
    prompt: asked.scopes.includes("offline_access") ? "consent" : "",
  };
  for (const [name, value] of Object.entries(parameters)) if (value) url.searchParams.set(name, value);
  url.hash = "";
  return url.href;
}

/** Throws unless an authorization server binds codes to the client that asked for them. */
function requirePkce({ issuer, code_challenge_methods_supported: methods }: oauth.AuthorizationServer): void {
  if (methods?.includes("S256")) return;
  throw new OAuthError(
    "metadata",
    `The metadata of ${shown(issuer)} must have "code_challenge_methods_supported": ["S256"] (PKCE)`,
  );
}

/** Waits for the person. This keeps no process alive: the requests that wait for the tokens do. */
async function answer(signIn: SignIn, url: string, asked: Asked, timeMs: number): Promise<URLSearchParams> {
  const timeUp = `Nobody signed in at ${new URL(url).host} within ${timeMs} ms: try again, or raise signInTimeoutMs. If the page showed an error, check clientId and redirectUri`;
  const timer = inBackground(setTimeout(() => signIn.end(timeUp), timeMs));
  try {
    return await signIn.answer(url, asked.state, JSON.stringify(asked));
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  party: Party,
  parameters: URLSearchParams,
  { state, redirectUri, verifier }: Asked,
): Promise<oauth.TokenEndpointResponse> {
  const checked = checkAnswer(party, parameters, state);
  return requestTokens({ ...party, scopes: [] }, (who, additionalParameters, options) =>
    oauth.authorizationCodeGrantRequest(...who, checked, redirectUri, verifier, {
      ...options,
      additionalParameters,
    }),
  );
}

/** Throws unless the parameters answer the request with this `state`. Nothing of what another server says may be shown. */
function checkAnswer(party: Party, parameters: URLSearchParams, state: string): URLSearchParams {
  const { as, client } = party;
  const refusal = (problem: OAuthProblem, why: string): OAuthError =>
    new OAuthError(problem, `The answer to the sign-in at ${shown(as.issuer)} ${why}`);
  const twice = ["iss", "state", "error", "code"].find((name) => parameters.getAll(name).length > 1);
  if (twice !== undefined) throw refusal("response", `has ${twice} twice`);
  const iss = parameters.get("iss");
  // To oauth4webapi, an empty iss is none: issuers are compared exactly here.
  if (iss === null ? as.authorization_response_iss_parameter_supported : iss !== as.issuer)
    throw refusal(
      "response",
      iss === null
        ? "has no iss: add it there, or drop authorization_response_iss_parameter_supported from the metadata"
        : `has iss ${shown(iss)}: it must equal the issuer`,
    );
  try {
    const checked = oauth.validateAuthResponse(as, client, parameters, state);
    if (checked.get("code")) return checked;
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError))
      throw refusal("response", `is not valid: ${(error as Error).message}`);
    const { error: code, error_description: description } = error;
    const said = shown(code) + (description ? ` (${shown(description)})` : "");
    throw refusal("denied", `is a refusal: ${said}${remedyOf(code, description, party)}`);
  }
  throw refusal("response", "has no code");
}

function takeReturned(server: string): Returned | undefined {
  const answered = platform.returned?.((kept) => (JSON.parse(kept) as Asked).server === server);
  if (answered === undefined) return undefined;
  const asked = JSON.parse(answered.kept) as Asked;
  return { ...asked, obtain: (party) => exchange(party, answered.parameters, asked) };
}
