// The interface of token verification: by signature, by introspection, or by the author's own code.
import type { TokenClaims } from "./claims.ts";

/**
 * Returns the claims of the token, or its problem. Throws {@link Unavailable} if it cannot be verified now. Limits count it for
 * `caller`, the address of the client, because the principal is not known yet.
 */
export type Verify = (token: string, caller: string) => Promise<TokenClaims | string>;

/** Thrown when the authorization server cannot be reached. */
export class Unavailable extends Error {}
