// The seam for credentials: what a client asks before it sends, and what it tells after a refusal.

/** A request that the server refused for its credentials. */
export interface AuthRefusal {
  readonly status: 401 | 403;
  readonly url: string;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** The credentials that were refused: the value of the `Authorization` header. */
  readonly refused: string | undefined;
  /** Aborted when nobody waits any longer. */
  readonly signal: AbortSignal;
}

/** Obtains credentials. */
export interface ClientAuth {
  /** Returns the headers to add to a request, such as `Authorization`. Called before each HTTP request, and before a cached result is used; keep it quick. */
  headers(request: { readonly url: string; readonly method: string }): HeaderFields | Promise<HeaderFields>;
  /** Called after a 401 or 403. Resolves with whether it is worth trying again. */
  refused?(refusal: AuthRefusal): boolean | Promise<boolean>;
}

/** Names and values of HTTP headers. */
export type HeaderFields = { readonly [name: string]: string };

/** A token, a function that returns the current one, or an object that obtains credentials. */
export type AuthOption = string | (() => string | Promise<string>) | ClientAuth;
