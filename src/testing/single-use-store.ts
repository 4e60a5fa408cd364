// What every single-use store has to do, as checks that any test runner can run.
import type { SingleUseStore } from "../server/request-state/single-use.ts";
import { pause } from "./expect-same.ts";
import { contractOf, type StoreCheck } from "./store-check.ts";

const long = 60_000;
const short = 40;

/**
 * The checks that a {@link SingleUseStore} has to pass, for a test of your own store.
 *
 * @example
 * ```ts
 * import { MemorySingleUseStore } from "halyard";
 * import { singleUseStoreContract } from "halyard/testing";
 *
 * for (const { title, run } of singleUseStoreContract()) {
 *   await run(() => new MemorySingleUseStore());
 *   console.log(title);
 * }
 * ```
 */
export function singleUseStoreContract(): readonly StoreCheck<SingleUseStore>[] {
  return contractOf(checks);
}

const checks: Readonly<Record<string, (store: SingleUseStore) => Promise<void>>> = {
  async "an id can be claimed once"(store) {
    const id = newId();
    expectClaims(await claimInTurn(store, [id, id, id]), [true, false, false]);
  },

  async "ids do not get in each other's way, whatever they look like"(store) {
    const id = newId();
    const ids = [id, `${id}0`, id.toUpperCase(), `__proto__${id}`, `${id} *?[a]`, `${id}:ü`];
    expectClaims(await claimInTurn(store, [...ids, ...ids]), [
      ...ids.map(() => true),
      ...ids.map(() => false),
    ]);
  },

  async "of many claims at the same time one succeeds"(store) {
    const id = newId();
    const claims = await Promise.all(Array.from({ length: 50 }, () => store.claim(id, long)));
    expectClaims(claims.toSorted().toReversed().slice(0, 2), [true, false]);
  },

  async "a mark lasts for its time, though others that are shorter are over"(store) {
    const [kept, brief] = [newId(), newId()];
    await store.claim(kept, long);
    await store.claim(brief, short);
    await pause(short * 2);
    expectClaims([await store.claim(kept, long)], [false]);
  },

  async "a claim that fails does not shorten the mark"(store) {
    const id = newId();
    await store.claim(id, long);
    await store.claim(id, short);
    await pause(short * 2);
    expectClaims([await store.claim(id, long)], [false]);
  },
};

/** One that no other run against the same store has used. */
function newId(): string {
  return crypto.randomUUID();
}

async function claimInTurn(store: SingleUseStore, ids: readonly string[]): Promise<boolean[]> {
  const claims: boolean[] = [];
  for (const id of ids) claims.push(await store.claim(id, long));
  return claims;
}

function expectClaims(actual: readonly boolean[], expected: readonly boolean[]): void {
  if (String(actual) !== String(expected))
    throw new Error(`Expected ${String(expected)}, not ${String(actual)}`);
}
