// RFC 7662: asks the authorization server what a token is worth, and remembers the answer for a while.
import {
  type AuthorizationServer,
  ClientSecretBasic,
  ClientSecretPost,
  introspectionRequest,
  processIntrospectionResponse,
} from "oauth4webapi";
import { Shares } from "../limits/shares.ts";
import type { TokenClaims } from "./claims.ts";
import { type Discovery, requestOptions } from "./discovery.ts";
import { TokenCache } from "./token-cache.ts";
import { Unavailable, type Verify } from "./verify.ts";

/** How to ask about a token. */
export interface IntrospectionOptions {
  /** The client that this server is to the authorization server. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the secret is sent. @default {"client_secret_basic"} */
  readonly method?: "client_secret_basic" | "client_secret_post";
  /** @default {what the metadata of the authorization server says} */
  readonly endpoint?: string;
  /** Seconds for which an answer holds, unless the token expires before. @default {60} */
  readonly cacheSeconds?: number;
}

/** How many answers are kept, whoever the tokens belong to. */
const maxKept = 10_000;
/** How many tokens are asked about at once: a flood of made-up ones must not become a flood of the authorization server. */
const maxAsking = 100;
/** For how many seconds it is kept that a token is worth nothing. */
const refusedSeconds = 10;

/** Asks `server` about each token. */
export function introspector(server: Discovery, options: IntrospectionOptions): Verify {
  const { clientId, clientSecret, method = "client_secret_basic", cacheSeconds = 60 } = options;
  const client = { client_id: clientId };
  const secret =
    method === "client_secret_post" ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
  const cache = new TokenCache<TokenClaims | string>(maxKept);
  const asking = new Shares(maxAsking);
  const ask = async (token: string, caller: string): Promise<TokenClaims | string> => {
    if (!asking.take(caller, 1)) throw new Unavailable(`${asking.total} tokens are being asked about`);
    try {
      const endpoint = options.endpoint ?? (await server.endpoint("introspection_endpoint"));
      const asked: AuthorizationServer = { issuer: server.issuer, introspection_endpoint: endpoint };
      const response = await introspectionRequest(asked, client, secret, token, requestOptions);
      const answer = await processIntrospectionResponse(asked, client, response);
      return answer.active ? ({ ...answer } as TokenClaims) : "The token is not active";
    } catch (error) {
      // The cause of such an error may hold what the server answered, so only its message goes further.
      throw new Unavailable(error instanceof Error ? error.message : "The token cannot be asked about");
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
