// Where tokens and registrations are kept between requests, and between processes.

/**
 * Keeps texts under keys. Tokens are secret: a store keeps them where only their owner can read them.
 *
 * Several processes may share a store. `replace` compares and swaps, so that none overwrites what another has just written;
 * `exclusive` lets one of them refresh while the others wait.
 */
export interface TokenStore {
  /** Resolves with what is kept under `key`. */
  get(key: string): Promise<string | undefined>;
  /** Keeps `next` (or nothing, if it is undefined) if `expected` is what is kept now. Resolves with whether it did. */
  replace(key: string, expected: string | undefined, next: string | undefined): Promise<boolean>;
  /** Runs `work` while nothing else runs for `key`, in any process that shares the store. */
  exclusive<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}
