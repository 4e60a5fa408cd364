// Fetches and caches the metadata of an authorization server: RFC 8414, or OpenID Connect Discovery.
import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from "oauth4webapi";
import { boundedFetch, retryMs } from "./bounded-fetch.ts";
import { urlProblem } from "./urls.ts";

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
