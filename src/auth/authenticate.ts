// The interface by which an HTTP endpoint authenticates requests: it returns the caller, or a refusal.
import type { Principal } from "../protocol/model.ts";

/** A request without its body. */
export interface RequestHead {
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query, without the question mark. */
  readonly query: string;
  /** The address of the client if it is known; behind a proxy, only with `trustProxy`. */
  readonly address: string | undefined;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
  /** All headers, by their names in lower case. */
  headers(): Readonly<Record<string, string | undefined>>;
}

/** Refuses a request; the client gets everything but `problem`. */
export interface AuthRefusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log of the operator. It must not contain the token or its claims. */
  readonly problem?: string;
}

/** The caller, undefined for an anonymous caller, or a refusal. */
export type Authenticated = Principal | undefined | AuthRefusal;

/** Returns the caller of a request, or refuses it. */
export type Authenticate = (request: RequestHead) => Authenticated | Promise<Authenticated>;

/** Protects an HTTP endpoint. */
export interface Auth {
  readonly authenticate: Authenticate;
  /** Returns the refusal for a caller that lacks one of these scopes, or is anonymous. */
  refuseScopes(needed: readonly string[], principal: Principal | undefined): AuthRefusal;
  /** The public URL of the endpoint. */
  readonly resource?: string;
  /** Public JSON documents by path: functions that return their text. */
  readonly documents?: ReadonlyMap<string, () => string | Promise<string>> | undefined;
}

export function isAuthRefusal(authenticated: Authenticated): authenticated is AuthRefusal {
  return typeof authenticated === "object" && authenticated !== null && "status" in authenticated;
}

/** Turns a function into an `Auth`. Throws for anything else that is not one. */
export function toAuth(auth: Auth | Authenticate): Auth {
  if (typeof auth !== "function") return auth;
  return {
    authenticate: auth,
    refuseScopes: (needed, principal) => refuseScopes(needed, principal, []),
  };
}

/** The refusal for missing scopes. It names all that are needed, so that a client requests them at once. */
export function refuseScopes(
  needed: readonly string[],
  principal: Principal | undefined,
  more: readonly string[],
): AuthRefusal {
  const scope = `scope="${needed.join(" ")}"`;
  const message = `This requires the scopes ${needed.join(" ")}`;
  return principal === undefined
    ? { status: 401, message, headers: challenge([scope, ...more]) }
    : { status: 403, message, headers: challenge(['error="insufficient_scope"', scope, ...more]) };
}

/** The header that tells a client how to get a token. */
export function challenge(parameters: readonly string[]): Readonly<Record<string, string>> {
  return { "www-authenticate": ["Bearer", parameters.join(", ")].join(" ").trim() };
}
