// The seam for credentials: the functions that a client calls before a request and after a reply.
import { hasMethods, isFilled, isFunction, type Kind } from "../../base/kinds.ts";

/** A request that needs credentials. */
export interface AuthRequest {
  readonly url: string;
  readonly method: string;
  /** The address that you passed to `connect`. The `url` differs if the server names another one for messages. */
  readonly server: string;
}

/** The reply to a request. */
export interface AuthReply {
  readonly status: number;
  readonly url: string;
  /** The address that you passed to `connect`. */
  readonly server: string;
  /** Returns a header of the reply, such as `DPoP-Nonce`. */
  header(name: string): string | undefined;
}

/** A request that the server refused for its credentials. */
export interface AuthRefusal extends AuthReply {
  readonly status: 401 | 403;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** The credentials that were refused: the value of the `Authorization` header. */
  readonly refused: string | undefined;
  /** The `MCP-Protocol-Version` header of the refused request. */
  readonly revision: string | undefined;
  /** Aborted when the requests no longer wait for credentials. */
  readonly signal: AbortSignal;
  /**
   * Shows that a person must visit this address, until `refused` settles: in the state of the client, and by stopping the timeout
   * of `connect`. Call it for each refusal that waits.
   */
  prompt(url: string): void;
}

/** Obtains credentials. */
export interface ClientAuth {
  /** Returns the headers to add to a request, such as `Authorization`. Called before each HTTP request, and before a cached result is used; keep it quick. */
  headers(request: AuthRequest): HeaderFields | Promise<HeaderFields>;
  /** Called after a 401 or 403. Resolves with whether the request should be sent again. */
  refused?(refusal: AuthRefusal): boolean | Promise<boolean>;
  /** Called for each reply when its headers have arrived, before `refused`. */
  replied?(reply: AuthReply): void;
}

/** Names and values of HTTP headers. */
export type HeaderFields = { readonly [name: string]: string };

/** A token, a function that returns the current one, or an object that obtains credentials. */
export type AuthOption = string | (() => string | Promise<string>) | ClientAuth;

export const authOption: Kind<AuthOption> = {
  is: (value) => isToken(value) || isFunction(value) || hasMethods(value, "headers"),
  mustBe: 'a token without "Bearer", a function that returns one, or an object with headers()',
  isSecret: true,
};

export function isAuthorization(header: string): boolean {
  return header.toLowerCase() === "authorization";
}

/** Whether a value can be a token. A token does not include the name of its scheme. */
export function isToken(value: unknown): value is string {
  return isFilled(value) && !/^bearer\s/i.test(value);
}
