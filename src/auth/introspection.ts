// RFC 7662: asks the authorization server about a token, and caches the response.
import {
  type AuthorizationServer,
  ClientSecretBasic,
  ClientSecretPost,
  introspectionRequest,
  processIntrospectionResponse,
} from "oauth4webapi";
import { filledText, type Known, needed, numberFrom, oneOf, preset } from "../base/kinds.ts";
import { type Filled, withDefaults } from "../base/options.ts";
import { Shares } from "../base/limits/shares.ts";
import { type TokenClaims, Unavailable, type Verify } from "./claims.ts";
import { type Discovery, requestOptions } from "./authorization-server.ts";
import { Holdings } from "../base/limits/holdings.ts";
import { toBase64Url } from "../base/wire/base64.ts";

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

type IntrospectionSettings = IntrospectionOptions &
  Filled<Pick<IntrospectionOptions, "method" | "cacheSeconds">>;

export const knownIntrospection: Known<IntrospectionOptions, IntrospectionSettings> = {
  clientId: needed(filledText),
  clientSecret: needed({ ...filledText, isSecret: true }),
  method: preset(oneOf("client_secret_basic", "client_secret_post"), "client_secret_basic"),
  endpoint: filledText,
  cacheSeconds: preset(numberFrom(0, Number.MAX_SAFE_INTEGER, "a number of seconds, 0 or more"), 60),
};

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
  const { clientId, clientSecret, method, cacheSeconds } = withDefaults(options, knownIntrospection);
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

interface Kept<Answer> {
  /** The key that limits count it for. */
  readonly caller: string;
  readonly answer: Promise<Answer>;
  until: number;
}

/** Holds at most `maxEntries` results. When it is full, the caller with the most loses the least recently used. */
class TokenCache<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>();
  readonly #held: Holdings<string>;

  constructor(maxEntries: number) {
    this.#held = new Holdings(maxEntries);
  }

  /** Returns the cached result, or asks. Calls for the same token share one request; a failure is not cached. */
  async get(
    token: string,
    caller: string,
    ask: () => Promise<Answer>,
    keepUntil: (answer: Answer) => number,
  ): Promise<Answer> {
    const key = await digest(token);
    const found = this.#kept.get(key);
    if (found !== undefined && performance.now() < found.until) {
      this.#held.add(found.caller, key, 0);
      return found.answer;
    }
    this.#forget(key);
    const entry: Kept<Answer> = { caller, answer: ask(), until: Number.POSITIVE_INFINITY };
    this.#kept.set(key, entry);
    this.#held.add(caller, key);
    const { shares } = this.#held;
    if (shares.total > shares.max) this.#forget(this.#held.oldestOfGreediest() ?? "");
    this.#keep(key, entry, keepUntil);
    return entry.answer;
  }

  #keep(key: string, entry: Kept<Answer>, keepUntil: (answer: Answer) => number): void {
    entry.answer.then(
      (answer) => (entry.until = keepUntil(answer)),
      () => {
        if (this.#kept.get(key) === entry) this.#forget(key);
      },
    );
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#held.delete(kept.caller, key);
  }
}

async function digest(token: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))));
}
