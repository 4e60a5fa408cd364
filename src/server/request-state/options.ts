// The options of request state: what each is, its kind and its default.
import { ConfigurationError } from "../../base/errors.ts";
import { count, flag, type Known, milliseconds, preset, text } from "../../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../../base/options.ts";
import { minSecretBytes, type Secret, secretBytes } from "./keys.ts";

/** How the server seals request state. */
export interface RequestStateOptions {
  /**
   * Secrets of at least 32 bytes. The first one seals, all of them open. Processes that serve the same clients need the same
   * secrets. @default {a random one of this process; with `backplane`, keys that all nodes share}
   */
  readonly keys?: readonly (string | Uint8Array)[] | undefined;
  /** How long a client may take for one round, in milliseconds. After it, the call fails with -32602. @default {900000} */
  readonly ttlMs?: number | undefined;
  /** The service that may open a state: the same for all its processes. @default {the server's name} */
  readonly audience?: string | undefined;
  /**
   * The length of the sealed text, in characters. Past it, a call that would seal more fails with -32603 and names this
   * option; a longer state from a client gets -32602. @default {65536}
   */
  readonly maxBytes?: number | undefined;
  /** Open each state only once; with `backplane`, once among all nodes. @default {false} */
  readonly singleUse?: boolean | undefined;
  /**
   * How many used states this process remembers until they expire, with `singleUse`. Past it, a call fails with -32603 if its
   * caller would have more than remains for all others. @default {100000}
   */
  readonly maxMarks?: number | undefined;
}

/** The options with their defaults. Without `keys`, a key is created on first use. */
export interface RequestStateSettings extends Filled<Omit<RequestStateOptions, "keys">> {
  readonly keys: readonly Secret[] | undefined;
}

const knownOptions: Known<RequestStateOptions, Omit<RequestStateSettings, "keys" | "audience">> = {
  keys: { is: Array.isArray, mustBe: "a list of strings or Uint8Arrays", isSecret: true },
  ttlMs: preset(milliseconds, 900_000),
  audience: text,
  maxBytes: preset(count, 64 * 1024),
  singleUse: preset(flag, false),
  maxMarks: preset(count, 100_000),
};

/** Fills in the defaults. Throws for an invalid or unknown option: a typo would silently weaken the seal. */
export function resolveRequestState(options: RequestStateOptions, name: string): RequestStateSettings {
  checkOptions({ subject: "secureRequestState" }, options, knownOptions);
  const { keys, audience = name } = options;
  return { ...withDefaults(options, knownOptions), audience, keys: keys && readKeys(keys) };
}

/** Copies the secrets, since the author may wipe the originals. */
function readKeys(keys: readonly Secret[]): Secret[] {
  if (keys.length === 0) fail("keys", "is empty: pass at least one secret");
  // A copy has undefined where a list has holes.
  return [...keys].map((key: Secret | undefined, index) => {
    if (key === undefined) return fail(`keys[${index}]`, "is undefined: is the environment variable set?");
    // From a number, Uint8Array would make a key of zeros.
    if (typeof key !== "string" && !(key instanceof Uint8Array))
      return fail(`keys[${index}]`, "must be a string or a Uint8Array");
    const secret = secretBytes(key);
    if (secret.length >= minSecretBytes) return secret;
    return fail(
      "keys",
      `has a secret of less than ${minSecretBytes} bytes: create one with openssl rand -base64 32`,
    );
  });
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "secureRequestState", field }, problem);
}
