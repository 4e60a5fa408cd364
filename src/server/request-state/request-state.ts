// Sealed request state: what a client carries from one round to the next, and can neither read, change nor use elsewhere.
import { HalyardError, invalidParams } from "../../errors.ts";
import { fromBase64Url, toBase64Url } from "../../wire/base64.ts";
import type { Principal } from "../../protocol/model.ts";
import { principalKey } from "../../protocol/principal.ts";
import { randomId } from "../../protocol/random-id.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { Logger } from "../../diagnostics/logger.ts";
import { deriveKeys, minSecretBytes, type SealingKey } from "./key-ring.ts";
import { type RequestStateOptions, type RequestStateSettings, resolveRequestState } from "./options.ts";
import { MemorySingleUseStore } from "./single-use.ts";

/** The request that a state belongs to. */
export interface Bound {
  readonly method: string;
  /** The tool, prompt or resource. */
  readonly target: unknown;
  /** Of the parameters that the retry has to repeat; made only for a state that can be opened. */
  digest(): Promise<string>;
  readonly principal: Principal | undefined;
  /** Who it counts as where callers share a limit. */
  readonly caller: string;
}

const version = "v1";
const ivBytes = 12;
const tagBytes = 16;
const maxLoggedTarget = 200;
const encoder = new TextEncoder();

/** Seals and opens the state of one server. */
export class RequestState {
  readonly #name: string;
  readonly #logger: Logger;
  #settings: RequestStateSettings;
  #keys: Promise<readonly SealingKey[]> | undefined;

  constructor(name: string, logger: Logger) {
    this.#name = name;
    this.#settings = resolveRequestState({}, name);
    this.#logger = logger;
  }

  /** The option that only this process can go by, so that another could not take up what was begun here. */
  get unshared(): "keys" | "singleUse" | undefined {
    const { keys, singleUse } = this.#settings;
    if (keys === undefined) return "keys";
    return singleUse instanceof MemorySingleUseStore ? "singleUse" : undefined;
  }

  configure(options: RequestStateOptions): void {
    this.#settings = resolveRequestState(options, this.#name);
    this.#keys = undefined;
  }

  async seal(state: unknown, bound: Bound): Promise<string> {
    const { ttlMs, audience, maxBytes } = this.#settings;
    const [key] = await this.#ring();
    if (key === undefined) throw new TypeError("There is no key");
    const claims = {
      id: randomId(12),
      exp: Date.now() + ttlMs,
      aud: audience,
      ...(await bindingOf(bound)),
      state,
    };
    const head = `${version}.${key.id}`;
    const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
    const text = new Uint8Array(encoder.encode(JSON.stringify(claims)));
    const length = head.length + 1 + Math.ceil(((ivBytes + text.length + tagBytes) * 4) / 3);
    if (length > maxBytes) {
      const problem = `The answers and results of this call take ${length} bytes, and may take ${maxBytes}`;
      throw new HalyardError("ASK_FAILED", `${problem}: keep less, or set secureRequestState({ maxBytes })`);
    }
    const sealed = await crypto.subtle.encrypt(parameters(iv, head), key.key, text);
    const body = new Uint8Array(ivBytes + sealed.byteLength);
    body.set(iv);
    body.set(new Uint8Array(sealed), ivBytes);
    return `${head}.${toBase64Url(body)}`;
  }

  /** What was sealed. Whatever is wrong with it, the client gets one and the same error, and the log the reason. */
  async open(token: unknown, bound: Bound): Promise<unknown> {
    const opened = await this.#open(token, bound);
    if (opened.ok) return opened.state;
    const { method } = bound;
    // Whatever a client writes there, a line of the log stays one.
    const target = typeof bound.target === "string" ? bound.target.slice(0, maxLoggedTarget) : undefined;
    this.#logger.warn("A request state was refused", { reason: opened.reason, method, target });
    throw invalidParams("Invalid or expired requestState");
  }

  async #open(token: unknown, bound: Bound): Promise<Opened> {
    const { maxBytes, singleUse, audience, ttlMs } = this.#settings;
    if (typeof token !== "string") return refused("it is not a string");
    if (token.length > maxBytes) return refused("it is too long");
    const claims = await this.#decrypt(token);
    if (claims === undefined) return refused("it was not sealed with one of the keys, or was changed");
    const now = Date.now();
    const { id, exp, aud, state } = claims;
    if (typeof id !== "string" || typeof exp !== "number") return refused("it is malformed");
    if (!(exp > now)) return refused("it has expired");
    if (aud !== audience) return refused("it is meant for another audience");
    const binding = await bindingOf(bound);
    const other = (Object.keys(binding) as (keyof Binding)[]).find((name) => claims[name] !== binding[name]);
    if (other !== undefined) return refused(others[other]);
    // Not just for the time that is left: the clock of another process may be behind.
    if (singleUse !== undefined && !(await singleUse.claim(id, Math.max(ttlMs, exp - now), bound.caller))) {
      return refused("it has been used");
    }
    return { ok: true, state };
  }

  async #decrypt(token: string): Promise<JsonObject | undefined> {
    const [given, keyId, body, ...rest] = token.split(".", 4);
    if (given !== version || body === undefined || rest.length > 0) return undefined;
    const key = (await this.#ring()).find(({ id }) => id === keyId);
    const bytes = key && fromBase64Url(body);
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

const others: Readonly<Record<keyof Binding, string>> = {
  method: "it belongs to another method",
  target: "it belongs to another tool, prompt or resource",
  arguments: "it belongs to other arguments, or a handler or middleware has changed them",
  user: "it belongs to another user",
};

/** The claims that tie a state to its request; somebody differs from nobody, too. */
async function bindingOf({ method, target, digest, principal }: Bound): Promise<Binding> {
  const user = principal && principalKey(principal);
  return { method, target, arguments: await digest(), user };
}

function parameters(
  iv: Uint8Array<ArrayBuffer>,
  head: string,
): { name: string; iv: Uint8Array<ArrayBuffer>; additionalData: Uint8Array<ArrayBuffer> } {
  return { name: "AES-GCM", iv, additionalData: new Uint8Array(encoder.encode(head)) };
}
