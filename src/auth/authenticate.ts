// How an HTTP endpoint is protected: a function that says who is calling, or why the request is refused.
import { ConfigurationError } from "../errors.ts";
import type { Principal } from "../protocol/model.ts";

/** A request without its body: a token is looked for nowhere else. */
export interface RequestHead {
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query, without the question mark. */
  readonly query: string;
  /** The address of the client, where it is known; behind a proxy only with `trustProxy`. */
  readonly address: string | undefined;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
  /** All headers, by their names in lower case. */
  headers(): Readonly<Record<string, string | undefined>>;
}

/** Why a request is refused; all of it may be shown to the client. */
export interface AuthRefusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the operator should know, for the log. Never the token, nor what it says. */
  readonly problem?: string;
}

/** Who is calling, undefined for nobody in particular, or why they may not. */
export type Authenticated = Principal | undefined | AuthRefusal;

/** Says who is calling. */
export type Authenticate = (request: RequestHead) => Authenticated | Promise<Authenticated>;

/** Protects an HTTP endpoint. */
export interface Auth {
  readonly authenticate: Authenticate;
  /** Refuses a caller that lacks one of these scopes, or one that has not said who it is. */
  refuseScopes(needed: readonly string[], principal: Principal | undefined): AuthRefusal;
  /** The URL under which clients know the endpoint. */
  readonly resource?: string;
  /** JSON documents that anybody may read: by path, the text or how to get it. */
  readonly documents?: ReadonlyMap<string, () => string | Promise<string>>;
}

export function isAuthRefusal(authenticated: Authenticated): authenticated is AuthRefusal {
  return typeof authenticated === "object" && authenticated !== null && "status" in authenticated;
}

/** Completes a function that only says who is calling. */
export function toAuth(auth: Auth | Authenticate): Auth {
  if (typeof auth !== "function") {
    const parts = Object(auth) as Partial<Auth>;
    const isWhole = typeof parts.authenticate === "function" && typeof parts.refuseScopes === "function";
    if (isWhole) return auth;
    const remedy = "must be bearerAuth({ … }), or a function that says who is calling";
    throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field: "auth" }, remedy);
  }
  return {
    authenticate: auth,
    refuseScopes: (needed, principal) => refuseScopes(needed, principal, []),
  };
}

/** The refusal for want of scopes: all that are needed are named at once, so that a client has to ask only once. */
export function refuseScopes(
  needed: readonly string[],
  principal: Principal | undefined,
  more: readonly string[],
): AuthRefusal {
  const scope = `scope="${needed.join(" ")}"`;
  const message = `This needs the scopes ${needed.join(" ")}`;
  return principal === undefined
    ? { status: 401, message, headers: challenge([scope, ...more]) }
    : { status: 403, message, headers: challenge(['error="insufficient_scope"', scope, ...more]) };
}

/** The header that tells a client how to get a token, or another one. */
export function challenge(parameters: readonly string[]): Readonly<Record<string, string>> {
  return { "www-authenticate": ["Bearer", parameters.join(", ")].join(" ").trim() };
}
