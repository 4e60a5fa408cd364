// How request state is sealed: the author's options, their defaults, and the mistakes that are found when they are set.
import { ConfigurationError } from "../../errors.ts";
import { checkOptions, type Known } from "../../options.ts";
import { minSecretBytes, type Secret, secretBytes } from "./key-ring.ts";
import { MemorySingleUseStore, type SingleUseStore } from "./single-use.ts";

/** How request state is sealed. */
export interface RequestStateOptions {
  /**
   * Secrets of 32 bytes or more: the first one seals, all of them open. Processes that serve the same clients must have
   * the same ones. @default {a random one of this process}
   */
  readonly keys?: readonly (string | Uint8Array)[];
  /** How long a client may take for one round. @default {900000} */
  readonly ttlMs?: number;
  /** Who may open it: the same for all processes of one service. @default {the server's name} */
  readonly audience?: string;
  /** How long the sealed text may be. @default {65536} */
  readonly maxBytes?: number;
  /** Each state opens once; a store is needed where several processes share the keys. @default {false} */
  readonly singleUse?: boolean | SingleUseStore;
}

/** The options with every default filled in; only a key has none, since it is made when it is needed. */
export interface RequestStateSettings {
  readonly keys: readonly Secret[] | undefined;
  readonly ttlMs: number;
  readonly audience: string;
  readonly maxBytes: number;
  readonly singleUse: SingleUseStore | undefined;
}

const knownOptions: Known<RequestStateOptions> = {
  keys: true,
  ttlMs: true,
  audience: true,
  maxBytes: true,
  singleUse: true,
};

/** Fills in the defaults. Throws for an option that cannot work, or that is spelled wrong: state sealed otherwise than was meant looks the same. */
export function resolveRequestState(options: RequestStateOptions, name: string): RequestStateSettings {
  checkOptions({ subject: "secureRequestState" }, options, knownOptions);
  const { keys, ttlMs = 15 * 60_000, audience = name, maxBytes = 64 * 1024, singleUse = false } = options;
  for (const [field, value] of Object.entries({ ttlMs, maxBytes })) {
    if (!Number.isSafeInteger(value) || value <= 0) fail(field, "must be a positive integer");
  }
  if (typeof audience !== "string") fail("audience", "must be a string");
  return { keys: keys && readKeys(keys), ttlMs, audience, maxBytes, singleUse: storeOf(singleUse) };
}

/** Copies of the secrets: whoever wipes theirs after handing it over does not change the key. */
function readKeys(keys: readonly Secret[]): Secret[] {
  if (!Array.isArray(keys)) fail("keys", "must be a list");
  if (keys.length === 0) fail("keys", "is empty: give at least one");
  return keys.map((key: Secret) => {
    // A number would make an array of that many zeros.
    if (typeof key !== "string" && !(key instanceof Uint8Array)) {
      fail("keys", "has one that is neither a string nor a Uint8Array");
    }
    const secret = secretBytes(key);
    if (secret.length >= minSecretBytes) return secret;
    return fail(
      "keys",
      `has one of less than ${minSecretBytes} bytes: make one with openssl rand -base64 32`,
    );
  });
}

function storeOf(singleUse: boolean | SingleUseStore): SingleUseStore | undefined {
  if (singleUse === true) return new MemorySingleUseStore();
  if (singleUse === false) return undefined;
  if (typeof singleUse?.claim !== "function")
    fail("singleUse", "must be true, false, or a store with claim()");
  return singleUse;
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "secureRequestState", field }, problem);
}
