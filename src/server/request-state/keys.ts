// The keys that seal request state: derived from secrets, or made in the engine, where the nodes agree on them if none are
// configured. The first one seals and all of them open, so that keys can be rotated.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { ValueKey } from "../../cluster/engine/engine.ts";
import { changeValue } from "../../cluster/engine/edits.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { fromBase64Url, toBase64Url } from "../../base/wire/base64.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject } from "../../base/wire/message.ts";
import { randomId, DerivationSecret } from "../../base/wire/crypto.ts";

/** A secret that an author sets: 32 bytes or more. */
export type Secret = string | Uint8Array;

export interface SealingKey {
  /** Identifies the key, so that opening a state need not try each. */
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

export const minSecretBytes = 32;

const encoder = new TextEncoder();

export function secretBytes(secret: Secret): Uint8Array {
  return new Uint8Array(typeof secret === "string" ? encoder.encode(secret) : secret);
}

export function deriveKeys(secrets: readonly Secret[]): Promise<readonly SealingKey[]> {
  return Promise.all(secrets.map((secret) => derive(secretBytes(secret))));
}

/** Derives the key, since the author may use the secret for other purposes too. */
async function derive(bytes: Uint8Array): Promise<SealingKey> {
  const secret = await DerivationSecret.from(new Uint8Array(bytes));
  const id = toBase64Url(await secret.bits("halyard request state v1 id", 32));
  return { id, key: await secret.encryptionKey("halyard request state v1 key") };
}

/** A key as the engine has it. `madeAt` is the wall clock of the node that made it. */
interface StoredKey {
  readonly secret: string;
  readonly madeAt: number;
}

const place: ValueKey = { kind: "key", tag: "request-state" };

/** Milliseconds after which the first node that seals makes a new key. */
const rotateMs = 24 * 3_600_000;

/** Milliseconds between reads that states with an unknown key cause. */
const readAgainMs = 1000;

/** Keys that the engine keeps, however fast clocks that disagree rotate them. */
const maxKeys = 16;

/** The keys in the engine: made once, rotated, and kept while states need them. */
export class SharedKeys {
  readonly #cluster: Cluster;
  readonly #logger: Logger;
  readonly #keepMs: () => number;
  /** Newest first. They stay here while the engine is away, and go back to it if it has lost them. */
  #stored: readonly StoredKey[] = [];
  #keys: readonly SealingKey[] = [];
  #hasOthers = false;
  #syncing: Promise<void> | undefined;
  #mustSyncAgain = false;
  #readingAgain: Promise<void> | undefined;
  #readAgainAt = Number.NEGATIVE_INFINITY;

  /** `keepMs` is how long a key is kept after its successor was made. */
  constructor(cluster: Cluster, logger: Logger, keepMs: () => number) {
    this.#cluster = cluster;
    this.#logger = logger;
    this.#keepMs = keepMs;
  }

  /** The keys, the sealing one first. Waits for the engine only if this node has none yet. */
  async keys(): Promise<readonly SealingKey[]> {
    const [newest] = this.#stored;
    if (newest === undefined) await this.sync();
    else if (isOld(newest)) this.syncSoon();
    return this.#keys;
  }

  /** Other nodes may add keys from now on. */
  shareWithOthers(): void {
    this.#hasOthers = true;
  }

  /** The keys after reading them again, because a state names a key that this node does not know. */
  async keysAgain(): Promise<readonly SealingKey[]> {
    if (!this.#hasOthers) return this.#keys;
    await (this.#readingAgain ??= this.#readAgain());
    return this.#keys;
  }

  /** Takes the keys of the engine, and adds those that it lacks: a first one, a new one, or all if it has lost its data. */
  sync(): Promise<void> {
    this.#mustSyncAgain = true;
    return (this.#syncing ??= this.#sync().finally(() => (this.#syncing = undefined)));
  }

  syncSoon(): void {
    logRejection(this.#logger, "Reading the keys of request state", this.sync());
  }

  async #readAgain(): Promise<void> {
    const waitMs = Math.max(this.#readAgainAt - performance.now(), 0);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    this.#readingAgain = undefined;
    this.#readAgainAt = performance.now() + readAgainMs;
    await this.sync();
  }

  async #sync(): Promise<void> {
    const { engine } = this.#cluster;
    while (this.#mustSyncAgain) {
      this.#mustSyncAgain = false;
      let merged: readonly StoredKey[] = [];
      const written = await changeValue(engine, place, "The key of request state", async (found) => {
        const stored = found ? readStored(found.text) : [];
        if (found && stored.length === 0) this.#cluster.ignoreInvalid("key");
        merged = this.#merge(stored);
        const isSame = found && merged.length === stored.length && merged.every(isIn(stored));
        return isSame ? undefined : { text: JSON.stringify({ keys: merged }) };
      });
      if (written && this.#cluster.hasJoined) this.#cluster.bus.sendSoon("all", keysChanged, {});
      const secrets = merged.map(({ secret }) => fromBase64Url(secret) ?? new Uint8Array());
      // Both at once, since `keys` trusts `#keys` as soon as `#stored` has one.
      this.#keys = await deriveKeys(secrets);
      this.#stored = merged;
    }
  }

  #merge(stored: readonly StoredKey[]): StoredKey[] {
    const now = Date.now();
    const own = this.#stored.filter((key) => !isIn(stored)(key));
    const all = [...stored, ...own].toSorted((one, other) => other.madeAt - one.madeAt);
    const [newest] = all;
    if (newest === undefined || isOld(newest)) {
      all.unshift({ secret: randomId(minSecretBytes), madeAt: Math.max(now, (newest?.madeAt ?? 0) + 1) });
    }
    // The one before the newest in any case, since the clocks of nodes may disagree.
    const isNeeded = (_: StoredKey, at: number): boolean =>
      at <= 1 || (all[at - 1] as StoredKey).madeAt + this.#keepMs() >= now;
    return all.filter(isNeeded).slice(0, maxKeys);
  }
}

/** The message that tells nodes to read the keys. */
export const keysChanged = "request-state-keys";

function isOld({ madeAt }: StoredKey): boolean {
  return Date.now() - madeAt > rotateMs;
}

function isIn(keys: readonly StoredKey[]): (key: StoredKey) => boolean {
  return ({ secret }) => keys.some((key) => key.secret === secret);
}

/** The keys of a value, without those that this version cannot use. */
function readStored(text: string): StoredKey[] {
  const value = readJson(text);
  const keys = isObject(value) && Array.isArray(value["keys"]) ? (value["keys"] as unknown[]) : [];
  return keys.slice(0, maxKeys).filter(isStoredKey);
}

function isStoredKey(value: unknown): value is StoredKey {
  if (!isObject(value)) return false;
  const { secret, madeAt } = value;
  const bytes = typeof secret === "string" ? fromBase64Url(secret) : undefined;
  return bytes?.length === minSecretBytes && typeof madeAt === "number" && Number.isFinite(madeAt);
}
