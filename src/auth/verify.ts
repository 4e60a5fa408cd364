// How a token is verified: by its signature, by asking its issuer, or by the author's own code.
import type { TokenClaims } from "./claims.ts";

/** What the token says, or what is wrong with it. Throws {@link Unavailable} when there is no telling now. */
export type Verify = (token: string) => Promise<TokenClaims | string>;

/** The authorization server cannot be asked. */
export class Unavailable extends Error {}
