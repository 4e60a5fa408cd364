// The error of a client that cannot obtain a token, and how what a server has chosen appears in it.
import { HalyardError } from "../../../base/errors.ts";
import { shownUrl } from "../../settings/shown.ts";

/** Why no token was obtained. */
export type OAuthProblem =
  /** A document could not be fetched, or is not what it must be. */
  | "metadata"
  /** An address that must not be asked: private, not https, or another origin. */
  | "forbidden-address"
  /** Two names of the authorization server differ. */
  | "issuer"
  /** The metadata, or a token, is for another server. */
  | "resource"
  /** The authorization server does not know this client, and it cannot register itself. */
  | "registration"
  /** The answer to a sign-in does not belong to it. */
  | "response"
  /** The person, or the authorization server, said no. */
  | "denied"
  /** The person did not sign in in time, or the address could not be opened. */
  | "sign-in"
  /** The authorization server gave no token. */
  | "token"
  /** The server refuses tokens that it has asked for. */
  | "refused"
  /** The token store cannot be read or written. */
  | "store";

/**
 * No token could be obtained. The message says which document or answer is at fault, and what to change.
 *
 * @example
 * ```ts
 * import { connect } from "halyard/client";
 * import { oauth, OAuthError } from "halyard/client/oauth";
 *
 * // stands for a server that wants a token and names no authorization server
 * const fetch = async (): Promise<Response> => new Response("", { status: 401 });
 * const auth = oauth({ fetch });
 * const error = await connect("https://mcp.example.com/mcp", { auth, fetch }).catch((reason: unknown) => reason);
 * if (error instanceof OAuthError) console.error(error.problem, error.message);
 * ```
 */
export class OAuthError extends HalyardError {
  readonly problem: OAuthProblem;

  constructor(problem: OAuthProblem, message: string, options?: { cause?: unknown }) {
    super("OAUTH", message, options);
    this.problem = problem;
  }
}

const maxShown = 300;

/** Quotes a value so that it can neither be mistaken for another one, nor do anything to a terminal. URLs have no query. */
export function shown(value: unknown): string {
  const isSecretive = typeof value === "string" && /^\w+:\/\/[^/]*(?:@|.*[?#])/s.test(value);
  const quoted = JSON.stringify(isSecretive ? shownUrl(value) : value) ?? "nothing";
  const safe = quoted.replace(/[^ -~…]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return safe.length > maxShown ? `${safe.slice(0, maxShown)}…` : safe;
}
