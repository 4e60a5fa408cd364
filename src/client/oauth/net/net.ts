// The seam to the network: what the parts of OAuth fetch with.
import type { allowInsecureRequests, customFetch, CustomFetchOptions } from "oauth4webapi";
import type { Secrets } from "../../redaction/secrets.ts";

/** A document that was fetched as JSON. */
export interface Document {
  readonly url: string;
  /** 0 if nothing could be read, in a browser: it does not tell whether the server is down, or says 404 without CORS headers. */
  readonly status: number;
  /** Undefined unless the status is 2xx. */
  readonly json: unknown;
}

/** Fetches for one MCP server: checks every address before it is asked, and limits time and size. */
export interface Net {
  /** Rejects with an OAuthError if an address must not be asked. What a name resolves to is checked only when it is asked. */
  check(url: string): Promise<void>;
  /** Fetches a small JSON document. Rejects with an OAuthError if the address is forbidden, or the answer is not JSON; a 4xx is an answer. */
  document(url: string): Promise<Document>;
  /**
   * Returns what oauth4webapi sends a request with credentials by. Rejects like `check`, follows no redirect, and adds what the request
   * contains to `secrets`. Without a signal, a request continues when the caller has given up, because its response may be needed later.
   */
  endpoint(url: string, secrets: Secrets, signal?: AbortSignal): Promise<EndpointOptions>;
}

/** The options of oauth4webapi for one request. */
export interface EndpointOptions {
  readonly [customFetch]: (url: string, init: EndpointRequest) => Promise<Response>;
  readonly [allowInsecureRequests]: boolean;
  readonly signal?: AbortSignal;
}

export type EndpointRequest = CustomFetchOptions<"POST", URLSearchParams | string>;

/** What decides which addresses may be asked. */
export interface NetOptions {
  /** The URL of the MCP server: private addresses are allowed as far as it has one itself. */
  readonly server: string;
  /** Addresses that the user has given: their hosts are trusted wherever they are. */
  readonly trusted: readonly string[];
  readonly fetch?: typeof fetch | undefined;
  /** The value of `MCP-Protocol-Version` of the request that was refused: sent along while metadata is discovered (not in browsers). */
  readonly revision?: string | undefined;
  /** Aborted when nobody waits for documents any longer. */
  readonly signal?: AbortSignal | undefined;
}
