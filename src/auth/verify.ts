// How a token is verified: by its signature, by asking its issuer, or by the author's own code.
import type { TokenClaims } from "./claims.ts";

/**
 * What the token says, or what is wrong with it. Throws {@link Unavailable} when there is no telling now. Nobody is
 * known yet, so whoever brings it counts by its address: that is `caller`.
 */
export type Verify = (token: string, caller: string) => Promise<TokenClaims | string>;

/** The authorization server cannot be asked. */
export class Unavailable extends Error {}
