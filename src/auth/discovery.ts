// What an authorization server says of itself: RFC 8414, or OpenID Connect Discovery.
import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from "oauth4webapi";
import { boundedFetch, retryMs } from "./bounded-fetch.ts";
import { urlProblem } from "./urls.ts";

/** The options of every request to an authorization server; whether http will do has been decided when it was configured. */
export const requestOptions: RequestOptions = { [customFetch]: boundedFetch, [allowInsecureRequests]: true };

interface RequestOptions {
  readonly [customFetch]: typeof boundedFetch;
  readonly [allowInsecureRequests]: true;
}

const keepMs = 10 * 60_000;

/** The metadata of one authorization server, kept for a while; when it cannot be had, that is remembered for a moment. */
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

  /** A URL that the metadata names. */
  async endpoint(name: "jwks_uri" | "introspection_endpoint"): Promise<string> {
    const metadata = this.metadata();
    const kept = this.#kept;
    const url = (await metadata)[name];
    const problem = url === undefined ? "is missing" : urlProblem(url);
    if (url === undefined || problem !== undefined) {
      // As good as no metadata: it is read again as soon, and not only when its time is up.
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
      problems.push(`it calls itself ${metadata.issuer}: write it so in authorizationServers`);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`The metadata of ${issuer} cannot be had: ${problems.join("; ")}`);
}
