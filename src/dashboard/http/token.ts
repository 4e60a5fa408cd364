// The token of a dashboard: compared in constant time, and slow to guess.
import { Guesses } from "./guesses.ts";

/** Why a request is refused; `retryAfter`: the seconds until its address may try again. */
export interface TokenRefusal {
  readonly problem: string;
  readonly retryAfter?: number;
}

/**
 * Wrong tokens of an address in a minute. Past it, the dashboard responds with 429 and `Retry-After`, to the right token
 * too, until six seconds have passed for each.
 */
const maxGuesses = 10;
/** Addresses whose wrong tokens are counted. Past it, further addresses are counted as one. */
const maxGuessers = 1000;
/** How many wrong tokens are remembered, so that a page that was left open does not count as guessing. */
const maxRefused = 100;
/** A longer token is always wrong. */
const maxLength = 1024;

export class Token {
  readonly #text: string;
  readonly #guesses = new Guesses(maxGuesses, maxGuessers);
  readonly #refused = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The part of an address that brings the token to the page. */
  get fragment(): string {
    return `#token=${encodeURIComponent(this.#text)}`;
  }

  /** Returns why a request with this `Authorization` header is refused, or undefined if it has the token. */
  check(authorization: string | undefined, address: string): TokenRefusal | undefined {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (given === undefined)
      return {
        problem:
          "The token is missing: send it as Authorization: Bearer, or open the whole address that the server prints",
      };
    const now = performance.now();
    // Counted before the tokens are compared: past the limit, the right token is refused like a wrong one.
    const waitMs = this.#guesses.take(address, now);
    if (waitMs > 0) {
      const retryAfter = Math.ceil(waitMs / 1000);
      return { problem: `Too many wrong tokens: try again in ${retryAfter} s`, retryAfter };
    }
    const isRight = isSame(given, this.#text);
    if (isRight || !this.#isNew(given)) this.#guesses.giveBack(address);
    return isRight
      ? undefined
      : { problem: "The token is wrong: the server may have started again and made another one" };
  }

  /** Whether this wrong token was not sent lately. */
  #isNew(given: string): boolean {
    if (this.#refused.has(given)) return false;
    if (given.length > maxLength) return true;
    this.#refused.add(given);
    const [oldest] = this.#refused;
    if (this.#refused.size > maxRefused && oldest !== undefined) this.#refused.delete(oldest);
    return true;
  }
}

/** Takes as long for a token that is almost right as for any other of its length. */
function isSame(given: string, token: string): boolean {
  let difference = given.length ^ token.length;
  for (let at = 0; at < given.length; at++)
    difference |= given.charCodeAt(at) ^ token.charCodeAt(at % token.length);
  return difference === 0;
}
