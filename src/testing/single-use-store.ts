// The contract of single-use stores, as checks that any test runner can run.
import type { SingleUseStore } from "../server/request-state/single-use.ts";
import { pause } from "./expect-same.ts";
import { contractOf, type StoreCheck } from "./store-check.ts";

const long = 60_000;
const short = 40;

/**
 * The checks that a {@link SingleUseStore} must pass. Run them against your own store.
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

  async "different ids are independent, whatever their characters"(store) {
    const id = newId();
    const ids = [id, `${id}0`, id.toUpperCase(), `__proto__${id}`, `${id} *?[a]`, `${id}:ü`];
    expectClaims(await claimInTurn(store, [...ids, ...ids]), [
      ...ids.map(() => true),
      ...ids.map(() => false),
    ]);
  },

  async "one of many concurrent claims succeeds"(store) {
    const id = newId();
    const claims = await Promise.all(Array.from({ length: 50 }, () => store.claim(id, long)));
    expectClaims(claims.toSorted().toReversed().slice(0, 2), [true, false]);
  },

  async "a claim lasts for its time, even after shorter ones expire"(store) {
    const [kept, brief] = [newId(), newId()];
    await store.claim(kept, long);
    await store.claim(brief, short);
    await pause(short * 2);
    expectClaims([await store.claim(kept, long)], [false]);
  },

  async "a failed claim does not shorten the time of the first"(store) {
    const id = newId();
    await store.claim(id, long);
    await store.claim(id, short);
    await pause(short * 2);
    expectClaims([await store.claim(id, long)], [false]);
  },
};

/** A new id, unused by other runs against the same store. */
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
