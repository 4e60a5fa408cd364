// Seals request state, which a client carries between rounds and cannot read, change or use for another request.
import { type Cluster, PartKind } from "../../cluster/node/cluster.ts";
import { HalyardError, invalidParams } from "../../base/errors.ts";
import { decrypt, encrypt, encryptedLength, randomId } from "../../base/wire/crypto.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Logger } from "../../base/logging/logger.ts";
import type { agreeOnKeys } from "./key-agreement.ts";
import { type StateClaims, stateClaimsOf, type Bound, whyRefused } from "./binding.ts";
import { deriveKeys, type SealingKey, type Secret, keysChanged, SharedKeys } from "./keys.ts";
import { type RequestStateOptions, type RequestStateSettings, resolveRequestState } from "./options.ts";
import { Marks } from "./single-use.ts";

const version = "v1";
const maxLoggedTarget = 200;
const encoder = new TextEncoder();

/** Compares configured keys with those of the other nodes. */
export const agreedKeys: PartKind<typeof agreeOnKeys> = new PartKind("keys");

/** Seals and opens the state of one server. */
export class RequestState {
  readonly #name: string;
  readonly #logger: Logger;
  readonly #cluster: Cluster;
  readonly #shared: SharedKeys;
  #settings: RequestStateSettings;
  #marks: Marks;
  #keys: Promise<readonly SealingKey[]> | undefined;

  constructor(name: string, logger: Logger, cluster: Cluster) {
    this.#name = name;
    this.#settings = resolveRequestState({}, name);
    this.#marks = new Marks(this.#settings.maxMarks, cluster);
    this.#logger = logger;
    this.#cluster = cluster;
    this.#shared = new SharedKeys(cluster, logger, () => this.#settings.ttlMs);
    this.#agree();
  }

  configure(options: RequestStateOptions): void {
    this.#settings = resolveRequestState(options, this.#name);
    this.#marks = new Marks(this.#settings.maxMarks, this.#cluster);
    this.#keys = undefined;
  }

  /** Lets all nodes open what one has sealed. */
  #agree(): void {
    const cluster = this.#cluster;
    const agree = cluster.part(agreedKeys);
    if (agree === undefined) return;
    const shared = this.#shared;
    shared.shareWithOthers();
    const isUsed = (): boolean => this.#usesShared;
    agree(cluster, async () => (isUsed() ? [] : (await this.#ring()).map(({ id }) => id)));
    cluster.onJoin(async () => {
      if (isUsed()) await shared.sync();
    });
    cluster.on(keysChanged, (_, from) => {
      if (from !== cluster.node && isUsed()) shared.syncSoon();
    });
    cluster.onBack(() => isUsed() && shared.syncSoon());
  }

  async seal(state: unknown, bound: Bound): Promise<string> {
    const { ttlMs, audience, maxBytes } = this.#settings;
    const [key] = await this.#ring();
    if (!key) throw new TypeError("There is no key");
    const claims = {
      id: randomId(12),
      exp: Date.now() + ttlMs,
      ...(this.#cluster.node && { node: this.#cluster.node }),
      aud: audience,
      ...(await stateClaimsOf(bound)),
      state,
    };
    const head = `${version}.${key.id}`;
    const text = new Uint8Array(encoder.encode(JSON.stringify(claims)));
    const length = head.length + 1 + encryptedLength(text.length);
    if (length > maxBytes) {
      const problem = `The request state of this call takes ${length} bytes, more than ${maxBytes}`;
      throw new HalyardError("ASK_FAILED", `${problem}: keep less, or raise maxBytes of secureRequestState`);
    }
    return `${head}.${await encrypt(text, key.key, head)}`;
  }

  /** Returns the state. If it is invalid, the client always gets the same error, and the log has the reason. */
  async open(token: unknown, bound: Bound): Promise<unknown> {
    const opened = await this.#open(token, bound);
    if (opened.ok) return opened.state;
    const { method } = bound;
    // The client chooses this text, so bound what it adds to the log.
    const target = typeof bound.target === "string" ? bound.target.slice(0, maxLoggedTarget) : undefined;
    this.#logger.warn("Rejected a requestState", { reason: opened.reason, method, target });
    throw invalidParams("Invalid or expired requestState");
  }

  async #open(token: unknown, bound: Bound): Promise<Opened> {
    const { maxBytes, singleUse, audience, ttlMs } = this.#settings;
    if (typeof token !== "string") return refused("it is not a string");
    if (token.length > maxBytes) return refused("it is too long");
    const claims = await this.#decrypt(token);
    if (claims === undefined) return refused("it was changed, or sealed with an unknown key");
    const { id, exp, aud, state, node } = claims;
    // On the clock of the node that has sealed it, which may disagree with this one's.
    const now = typeof node === "string" ? this.#cluster.clockOf(node) : Date.now();
    if (typeof id !== "string" || typeof exp !== "number") return refused("it is malformed");
    if (!(exp > now)) return refused("it has expired");
    if (aud !== audience) return refused("it has another audience");
    const binding = await stateClaimsOf(bound);
    const other = (Object.keys(binding) as (keyof StateClaims)[]).find(
      (name) => claims[name] !== binding[name],
    );
    if (other !== undefined) return refused(whyRefused[other]);
    // At least ttlMs, not only the remaining time: the clock of another node may be behind.
    if (singleUse && !(await this.#marks.claim(id, Math.max(ttlMs, exp - now), bound.caller))) {
      return refused("it was already used");
    }
    return { ok: true, state };
  }

  async #decrypt(token: string): Promise<JsonObject | undefined> {
    const [given, keyId, body, ...rest] = token.split(".", 4);
    if (given !== version || body === undefined || rest.length > 0) return undefined;
    const isIt = ({ id }: SealingKey): boolean => id === keyId;
    let key = (await this.#ring()).find(isIt);
    // Another node may have made a key that this one has not read yet.
    if (!key && this.#usesShared) key = (await this.#shared.keysAgain()).find(isIt);
    const text = key && (await decrypt(body, key.key, `${version}.${key.id}`));
    const claims = text && readJson(text);
    return isObject(claims) ? claims : undefined;
  }

  /** The configured keys, or else the secrets of the backplane. Undefined if the nodes generate their keys. */
  get #secrets(): readonly Secret[] | undefined {
    const { secrets } = this.#cluster;
    return this.#settings.keys ?? (secrets.length > 0 ? secrets : undefined);
  }

  get #usesShared(): boolean {
    return this.#secrets === undefined;
  }

  #ring(): Promise<readonly SealingKey[]> {
    const secrets = this.#secrets;
    return secrets === undefined ? this.#shared.keys() : (this.#keys ??= deriveKeys(secrets));
  }
}

type Opened =
  | { readonly ok: true; readonly state: unknown }
  | { readonly ok: false; readonly reason: string };

function refused(reason: string): Opened {
  return { ok: false, reason };
}
