// Sealed request state: what a client carries from one round to the next, and can neither read, change nor use elsewhere.
import { ConfigurationError, HalyardError, invalidParams } from "../../errors.ts";
import { fromBase64Url, toBase64Url } from "../../protocol/base64.ts";
import type { Principal } from "../../protocol/model.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { Logger } from "../logger.ts";
import { deriveKeys, minSecretBytes, type SealingKey, type Secret, secretBytes } from "./key-ring.ts";
import { MemorySingleUse, type SingleUseStore } from "./single-use.ts";

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

/** The request that a state belongs to. */
export interface Bound {
  readonly method: string;
  /** The tool, prompt or resource. */
  readonly target: unknown;
  /** Of the parameters that the retry has to repeat. */
  readonly digest: string;
  readonly principal: Principal | undefined;
}

const version = "v1";
const ivBytes = 12;
const tagBytes = 16;
const maxClaims = 100_000;
const encoder = new TextEncoder();

interface Settings {
  readonly keys: readonly Secret[] | undefined;
  readonly ttlMs: number;
  readonly audience: string;
  readonly maxBytes: number;
  readonly singleUse: SingleUseStore | undefined;
}

/** Seals and opens the state of one server. */
export class RequestState {
  #settings: Settings;
  readonly #logger: Logger;
  #keys: Promise<readonly SealingKey[]> | undefined;

  constructor(audience: string, logger: Logger) {
    this.#settings = resolve({}, audience);
    this.#logger = logger;
  }

  /** Whether the author has set keys, so that other processes can open what this one seals. */
  get isShared(): boolean {
    return this.#settings.keys !== undefined;
  }

  configure(options: RequestStateOptions): void {
    this.#settings = resolve(options, this.#settings.audience);
    this.#keys = undefined;
  }

  async seal(state: unknown, bound: Bound): Promise<string> {
    const { ttlMs, audience, maxBytes } = this.#settings;
    const [key] = await this.#ring();
    if (key === undefined) throw new TypeError("There is no key");
    const now = Date.now();
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(12)));
    const claims = { id, iat: now, exp: now + ttlMs, aud: audience, ...bindingOf(bound), state };
    const head = `${version}.${key.id}`;
    const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
    const text = new Uint8Array(encoder.encode(JSON.stringify(claims)));
    const sealed = await crypto.subtle.encrypt(parameters(iv, head), key.key, text);
    const body = new Uint8Array(ivBytes + sealed.byteLength);
    body.set(iv);
    body.set(new Uint8Array(sealed), ivBytes);
    const token = `${head}.${toBase64Url(body)}`;
    if (token.length <= maxBytes) return token;
    const problem = `The answers and results of this call take ${token.length} bytes, and may take ${maxBytes}`;
    throw new HalyardError("ASK_FAILED", `${problem}: keep less, or set secureRequestState({ maxBytes })`);
  }

  /** What was sealed. Whatever is wrong with it, the client gets one and the same error, and the log the reason. */
  async open(token: unknown, bound: Bound): Promise<unknown> {
    const opened = await this.#open(token, bound);
    if (opened.ok) return opened.state;
    const { method, target } = bound;
    this.#logger.warn("A request state was refused", { reason: opened.reason, method, target });
    throw invalidParams("Invalid or expired requestState");
  }

  async #open(token: unknown, bound: Bound): Promise<Opened> {
    const { maxBytes, singleUse } = this.#settings;
    if (typeof token !== "string") return refused("it is not a string");
    if (token.length > maxBytes) return refused("it is too long");
    const claims = await this.#decrypt(token);
    if (claims === undefined) return refused("it was not sealed with one of the keys, or was changed");
    const now = Date.now();
    const { id, iat, exp, aud, state } = claims;
    if (typeof id !== "string" || typeof iat !== "number" || typeof exp !== "number")
      return refused("it is malformed");
    if (!(exp > now)) return refused("it has expired");
    if (aud !== this.#settings.audience) return refused("it is meant for another audience");
    const binding = bindingOf(bound);
    const other = (Object.keys(binding) as (keyof Binding)[]).find((name) => claims[name] !== binding[name]);
    if (other !== undefined) return refused(`it belongs to another ${other}`);
    if (singleUse !== undefined && !(await singleUse.claim(id, exp - now))) {
      return refused("it has been used");
    }
    return { ok: true, state };
  }

  async #decrypt(token: string): Promise<JsonObject | undefined> {
    const [given, keyId, body, ...rest] = token.split(".", 4);
    if (given !== version || body === undefined || rest.length > 0) return undefined;
    const key = (await this.#ring()).find(({ id }) => id === keyId);
    const bytes = fromBase64Url(body);
    if (key === undefined || bytes === undefined || bytes.length < ivBytes + tagBytes) return undefined;
    try {
      const how = parameters(bytes.subarray(0, ivBytes), `${version}.${key.id}`);
      const text = await crypto.subtle.decrypt(how, key.key, bytes.subarray(ivBytes));
      const claims: unknown = JSON.parse(new TextDecoder().decode(text));
      return isObject(claims) ? claims : undefined;
    } catch {
      return undefined;
    }
  }

  #ring(): Promise<readonly SealingKey[]> {
    const { keys = [crypto.getRandomValues(new Uint8Array(minSecretBytes))] } = this.#settings;
    return (this.#keys ??= deriveKeys(keys));
  }
}

type Opened =
  | { readonly ok: true; readonly state: unknown }
  | { readonly ok: false; readonly reason: string };

function refused(reason: string): Opened {
  return { ok: false, reason };
}

interface Binding {
  readonly method: string;
  readonly target: unknown;
  readonly arguments: string;
  readonly user: string | undefined;
}

/** The claims that tie a state to its request; somebody differs from nobody, too. */
function bindingOf({ method, target, digest, principal }: Bound): Binding {
  const user = principal && JSON.stringify([principal.issuer, principal.subject]);
  return { method, target, arguments: digest, user };
}

function parameters(
  iv: Uint8Array<ArrayBuffer>,
  head: string,
): { name: string; iv: Uint8Array<ArrayBuffer>; additionalData: Uint8Array<ArrayBuffer> } {
  return { name: "AES-GCM", iv, additionalData: new Uint8Array(encoder.encode(head)) };
}

function resolve(options: RequestStateOptions, name: string): Settings {
  const { keys, ttlMs = 15 * 60_000, audience = name, maxBytes = 64 * 1024, singleUse = false } = options;
  if (keys?.length === 0) fail("keys", "is empty: give at least one");
  if (keys?.some((key) => secretBytes(key).length < minSecretBytes)) {
    fail("keys", `has one of less than ${minSecretBytes} bytes: make one with openssl rand -base64 32`);
  }
  for (const [field, value] of Object.entries({ ttlMs, maxBytes })) {
    if (!Number.isSafeInteger(value) || value <= 0) fail(field, "must be a positive integer");
  }
  const store = singleUse === true ? new MemorySingleUse(maxClaims) : singleUse || undefined;
  return { keys, ttlMs, audience, maxBytes, singleUse: store };
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "secureRequestState", field }, problem);
}
