// Requests to authorization servers: the URLs that are allowed, bounded fetches, and metadata by RFC 8414 or OpenID Connect Discovery.
import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from "oauth4webapi";
import { GrowingBuffer } from "../base/wire/bytes.ts";
import { isLoopback } from "../base/addresses.ts";

/** The options of every request to an authorization server. `urlProblem` has checked at startup where http is allowed. */
export const requestOptions: RequestOptions = { [customFetch]: boundedFetch, [allowInsecureRequests]: true };

interface RequestOptions {
  readonly [customFetch]: typeof boundedFetch;
  readonly [allowInsecureRequests]: true;
}

const keepMs = 10 * 60_000;

/** The metadata of one authorization server, cached; a failure is cached for `retryMs`. */
export class Discovery {
  readonly issuer: string;
  #kept: { readonly metadata: Promise<AuthorizationServer>; until: number } | undefined;

  constructor(issuer: string) {
    this.issuer = issuer;
  }

  metadata(): Promise<AuthorizationServer> {
    const now = performance.now();
    if (this.#kept !== undefined && now < this.#kept.until) return this.#kept.metadata;
    const kept = { metadata: discover(this.issuer), until: now + keepMs };
    this.#kept = kept;
    kept.metadata.catch(() => (kept.until = performance.now() + retryMs));
    return kept.metadata;
  }

  /** Returns a URL from the metadata. */
  async endpoint(name: "jwks_uri" | "introspection_endpoint"): Promise<string> {
    const metadata = this.metadata();
    const kept = this.#kept;
    const url = (await metadata)[name];
    const problem = url === undefined ? "is missing" : urlProblem(url);
    if (url === undefined || problem !== undefined) {
      // Fetch unusable metadata again soon, like after a failure.
      if (kept !== undefined) kept.until = Math.min(kept.until, performance.now() + retryMs);
      throw new Error(`${name} in the metadata of ${this.issuer} ${problem}`);
    }
    return url;
  }
}

async function discover(issuer: string): Promise<AuthorizationServer> {
  const url = new URL(issuer);
  const problems: string[] = [];
  for (const algorithm of ["oauth2", "oidc"] as const) {
    try {
      const response = await discoveryRequest(url, { ...requestOptions, algorithm });
      const metadata = await processDiscoveryResponse(url, response);
      if (metadata.issuer === issuer) return metadata;
      problems.push(`its issuer is ${metadata.issuer}: use that in authorizationServers`);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`Could not fetch the metadata of ${issuer}: ${[...new Set(problems)].join("; ")}`);
}

/** Bytes of an answer. An authorization server sends it. Past it, the server responds with 503. */
const maxBytes = 512 * 1024;
const timeoutMs = 5000;

/** Milliseconds before a failed request is tried again, whatever tokens arrive. */
export const retryMs = 1000;

/** The packages that call it pass `body: undefined`, which `RequestInit` does not allow. */
type BoundedInit = Omit<RequestInit, "body"> & { readonly body?: RequestInit["body"] | undefined };

/** Like `fetch`, for small JSON documents. */
export async function boundedFetch(url: string, init: BoundedInit = {}): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = { ...init, body: init.body ?? null };
  const response = await fetch(url, { ...sent, redirect: "manual", signal }).catch(sayWhy);
  const body = new GrowingBuffer();
  for await (const chunk of response.body ?? []) {
    if (body.length + chunk.length > maxBytes)
      throw new Error(`The response is larger than ${maxBytes} bytes`);
    body.add(chunk);
  }
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body.bytes, { status, headers });
}

/** Node's error only says "fetch failed", and has the reason in its cause. */
function sayWhy(error: unknown): never {
  const { cause } = error as { readonly cause?: { readonly message?: string; readonly code?: string } };
  const reason = cause?.message || cause?.code;
  throw reason === undefined ? error : new Error(reason, { cause: error });
}

/** Returns what is wrong with the URL of an authorization server or a resource. */
export function urlProblem(text: unknown): string | undefined {
  if (typeof text !== "string" || !URL.canParse(text)) return "must be an absolute URL";
  const url = new URL(text);
  const { protocol, hash, username, password } = url;
  if (hash !== "" || text.endsWith("#")) return "must not have a fragment";
  if (username !== "" || password !== "") return "must not contain credentials";
  if (protocol === "https:" || (protocol === "http:" && isLoopback(url))) return undefined;
  return "must start with https: (http: only for localhost)";
}
