// A person signs in: the authorization code grant with PKCE, in a browser that the platform shows the address in.
import { platform } from "#oauth-platform";
import {
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  type Client,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { inBackground } from "../../../async/timers.ts";
import { OAuthError } from "../settings/errors.ts";
import { isLoopback } from "../settings/loopback.ts";
import type { OAuthOptions } from "../settings/options.ts";
import type { SignIn } from "../platform/platform.ts";
import { checkResponse } from "./authorization-response.ts";
import type { Attempt, Grant, Party, Returned, Waiting } from "./grant.ts";
import { requestTokens } from "./token-request.ts";

/** An authorization request, as it is kept while the person is away. */
interface Asked {
  readonly server: string;
  readonly issuer: string;
  readonly client: Client;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
}

/** Lets a person sign in. Throws a ConfigurationError if that cannot work as `options` say on this runtime. */
export function personGrant(options: OAuthOptions): Grant {
  const { open, redirectUri, signInTimeoutMs = 300_000 } = options;
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
        const tokens = await exchange(party, await answer(signIn, url, asked, timeMs, waiting), asked);
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
  const [state, verifier] = [generateRandomState(), generateRandomCodeVerifier()];
  return { server, issuer: as.issuer, client, resource, scopes, redirectUri, state, verifier };
}

/** Where the person has to go. Throws if that is no address to show to a person, or the server does not support S256. */
async function authorizationUrl({ as }: Party, asked: Asked): Promise<string> {
  const endpoint = as.authorization_endpoint;
  const url = URL.canParse(endpoint ?? "") ? new URL(endpoint as string) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url));
  if (url === undefined || !isSafe || url.username || url.password) {
    const found = JSON.stringify(endpoint);
    throw new OAuthError(
      "forbidden-address",
      `The metadata of ${as.issuer} has authorization_endpoint ${found}: it must be an https URL (http on loopback only) without a user name`,
    );
  }
  if (!as.code_challenge_methods_supported?.includes("S256")) {
    throw new OAuthError(
      "metadata",
      `The metadata of ${as.issuer} does not list S256 in code_challenge_methods_supported: enable PKCE at the authorization server`,
    );
  }
  const parameters = {
    response_type: "code",
    client_id: asked.client.client_id,
    redirect_uri: asked.redirectUri,
    state: asked.state,
    code_challenge: await calculatePKCECodeChallenge(asked.verifier),
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

/** Waits for the person. Only while somebody waits for the tokens, the clock of the sign-in keeps the process alive. */
async function answer(
  signIn: SignIn,
  url: string,
  asked: Asked,
  timeMs: number,
  { signal }: Waiting,
): Promise<URLSearchParams> {
  const timeUp = `Nobody signed in at ${new URL(url).host} within ${timeMs} ms: try again, or raise signInTimeoutMs`;
  const timer = setTimeout(() => signIn.end(timeUp), timeMs);
  const letGo = (): void => void inBackground(timer);
  signal.addEventListener("abort", letGo);
  try {
    return await signIn.answer(url, asked.state, JSON.stringify(asked));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", letGo);
  }
}

function exchange(party: Party, parameters: URLSearchParams, asked: Asked): Promise<TokenEndpointResponse> {
  const { as, client, authentication, resource } = party;
  const accepted = checkResponse(as, client, parameters, asked.state);
  return requestTokens(party, (options) =>
    authorizationCodeGrantRequest(as, client, authentication, accepted, asked.redirectUri, asked.verifier, {
      ...options,
      additionalParameters: { resource },
    }),
  );
}

function takeReturned(server: string): Returned | undefined {
  const answered = platform.returned?.((kept) => (JSON.parse(kept) as Asked).server === server);
  if (answered === undefined) return undefined;
  const asked = JSON.parse(answered.kept) as Asked;
  return { ...asked, obtain: async (party) => exchange(party, answered.parameters, asked) };
}
