// The interface by which an HTTP endpoint authenticates requests: it returns the caller, or a refusal.
import { clip } from "../base/errors.ts";
import type { Principal } from "../protocol/model.ts";
import { hasScope } from "../protocol/principal.ts";
import type { JsonObject } from "../base/wire/message.ts";

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

/** Refuses a request. The client gets everything except `problem`. */
export interface AuthRefusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sent instead of a JSON-RPC error: an object as JSON, or a text with the `content-type` of `headers`; at most 65,536 characters.
   * @default {a JSON-RPC error with `message`}
   */
  readonly body?: string | JsonObject | undefined;
  /** For the log of the operator. It must not contain the token or its claims. */
  readonly problem?: string | undefined;
}

/** The caller, undefined for an anonymous caller, or a refusal. With an `Authorization` header, undefined is refused with 401. */
export type Authenticated = Principal | undefined | AuthRefusal;

/** Returns the caller of a request, or refuses it. */
export type Authenticate = (request: RequestHead) => Authenticated | Promise<Authenticated>;

/** Where an endpoint can be reached. */
export interface EndpointPlace {
  /** The addresses that `serveHttp` listens on; empty if the endpoint is mounted. */
  readonly addresses: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly trustProxy: boolean | number;
}

/** Protects an HTTP endpoint. */
export interface Auth {
  readonly authenticate: Authenticate;
  /** Returns the refusal for a caller that lacks one of these scopes, or is anonymous. */
  refuseScopes(needed: readonly string[], principal: Principal | undefined): AuthRefusal;
  /** The public URL of the endpoint. */
  readonly resource?: string | undefined;
  /** Called when an endpoint starts. Throws if it may not be used at this place. */
  checkPlace?(place: EndpointPlace): void;
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
  if (principal === undefined) {
    const message = `This requires a caller with the scopes ${shownScopes(needed)}`;
    return { status: 401, message, headers: challenge([scope, ...more]) };
  }
  const missing = needed.filter((each) => !hasScope(principal, each));
  const rest = missing.length === needed.length ? "" : `; this requires ${shownScopes(needed)}`;
  const message = `Insufficient scope: ${shownScopes(missing)} ${missing.length === 1 ? "is" : "are"} missing${rest}`;
  const parameters = ['error="insufficient_scope"', scope, described(message), ...more];
  return { status: 403, message, headers: challenge(parameters) };
}

/** Scopes that a sentence lists; the parameter `scope` has all. */
const maxShown = 10;

function shownScopes(scopes: readonly string[]): string {
  const more = scopes.length > maxShown ? ` and ${scopes.length - maxShown} more` : "";
  return scopes.slice(0, maxShown).join(" ") + more;
}

/** The header that tells a client how to get a token. */
export function challenge(parameters: readonly string[]): Readonly<Record<string, string>> {
  return { "www-authenticate": ["Bearer", parameters.join(", ")].join(" ").trim() };
}

/** The parameter that says in words what is wrong, with the characters that RFC 6750 allows. */
export function described(message: string): string {
  return `error_description="${message.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?")}"`;
}

/** The refusal for credentials that `auth` does not know: such a caller must not pass for an anonymous one. */
export const unrecognised: AuthRefusal = {
  status: 401,
  message: "The credentials in the Authorization header were not recognised",
  headers: challenge(['error="invalid_token"']),
};

const refusalStatuses: ReadonlySet<unknown> = new Set([400, 401, 403, 503]);
/** Characters of a refusal's body. An `AuthRefusal` has it. Past it, the server responds with 500, and the log says why. */
const maxBodyLength = 65_536;

/** The text of the body of a refusal from an author's code, if it has one. Throws if the refusal cannot be sent. */
export function refusalBody(refusal: AuthRefusal): string | undefined {
  if (refusal instanceof Response)
    failRefusal("it is a Response: return { status, message, headers?, body? }");
  const { status, message, headers = {}, body } = refusal;
  if (!refusalStatuses.has(status))
    failRefusal(`status must be 400, 401, 403 or 503, not ${clip(JSON.stringify(status) ?? typeof status)}`);
  if (typeof message !== "string") failRefusal("message must be a text");
  for (const [name, value] of Object.entries(headers)) {
    if (
      !/^[\w!#$%&'*+.^`|~-]+$/.test(name) ||
      typeof value !== "string" ||
      /[^\t\x20-\x7e\x80-\xff]/.test(value)
    )
      failRefusal(`headers has ${JSON.stringify(clip(name))}, which cannot be sent as a header`);
  }
  if (body === undefined) return undefined;
  if (body === null || (typeof body !== "string" && typeof body !== "object"))
    failRefusal("body must be a text or an object");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (text.length > maxBodyLength)
    failRefusal(`body has ${text.length} characters: the limit is ${maxBodyLength}`);
  return text;
}

function failRefusal(problem: string): never {
  throw new TypeError(`auth returned a refusal that cannot be sent: ${problem}`);
}
