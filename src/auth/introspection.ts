// RFC 7662: asks the authorization server about a token, and caches the response.
import {
  type AuthorizationServer,
  ClientSecretBasic,
  ClientSecretPost,
  introspectionRequest,
  processIntrospectionResponse,
} from "oauth4webapi";
import { Shares } from "../base/limits/shares.ts";
import type { TokenClaims } from "./claims.ts";
import { type Discovery, requestOptions } from "./discovery.ts";
import { TokenCache } from "./token-cache.ts";
import { Unavailable, type Verify } from "./verify.ts";

/** How to introspect tokens. */
export interface IntrospectionOptions {
  /** The client id of this server at the authorization server. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the secret is sent. @default {"client_secret_basic"} */
  readonly method?: "client_secret_basic" | "client_secret_post" | undefined;
  /** @default {what the metadata of the authorization server says} */
  readonly endpoint?: string | undefined;
  /** Seconds to cache a response, unless the token expires earlier. After it, the server asks again. @default {60} */
  readonly cacheSeconds?: number | undefined;
}

/** Introspections kept. Past it, the server drops the oldest one of the address with the most. */
const maxKept = 10_000;
/**
 * Introspections at once. A flood of invalid tokens must not reach the authorization server. Past it, the server responds
 * with 503 to an address that would have more than remains for all others.
 */
const maxAsking = 100;
/** Seconds to cache that a token is not active. */
const refusedSeconds = 10;

/** Verifies tokens by introspection at `server`. */
export function introspector(server: Discovery, options: IntrospectionOptions): Verify {
  const { clientId, clientSecret, method = "client_secret_basic", cacheSeconds = 60 } = options;
  const client = { client_id: clientId };
  const secret =
    method === "client_secret_post" ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
  const cache = new TokenCache<TokenClaims | string>(maxKept);
  const asking = new Shares(maxAsking);
  const ask = async (token: string, caller: string): Promise<TokenClaims | string> => {
    if (!asking.take(caller, 1)) throw new Unavailable(`${asking.total} introspection requests are running`);
    try {
      const endpoint = options.endpoint ?? (await server.endpoint("introspection_endpoint"));
      const asked: AuthorizationServer = { issuer: server.issuer, introspection_endpoint: endpoint };
      const response = await introspectionRequest(asked, client, secret, token, requestOptions);
      const answer = await processIntrospectionResponse(asked, client, response);
      return answer.active ? ({ ...answer } as TokenClaims) : "The token is not active";
    } catch (error) {
      // Without the cause, which may contain the response of the authorization server.
      throw new Unavailable(error instanceof Error ? error.message : "The introspection request failed");
    } finally {
      asking.count(caller, -1);
    }
  };
  const keepUntil = (answer: TokenClaims | string): number => {
    const leftSeconds = typeof answer === "string" ? refusedSeconds : secondsLeft(answer);
    return performance.now() + Math.min(cacheSeconds, leftSeconds) * 1000;
  };
  return (token, caller) => cache.get(token, caller, () => ask(token, caller), keepUntil);
}

function secondsLeft({ exp = Number.POSITIVE_INFINITY }: TokenClaims): number {
  return exp - Date.now() / 1000;
}
