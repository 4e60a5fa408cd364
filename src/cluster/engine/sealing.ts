// Seals texts and hides names with the secrets of `BackplaneOptions`, so that only nodes with a common secret can read or write them.
import { decrypt, DerivationSecret, encrypt } from "../../base/wire/crypto.ts";
import { fromBase64Url, toBase64Url } from "../../base/wire/base64.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { readJson } from "../../base/wire/json.ts";
import { isTexts } from "../../base/wire/message.ts";
import type { Engine, ValueKey } from "./engine.ts";
import { changeValue } from "./edits.ts";

const encoder = new TextEncoder();

interface SecretKey {
  /** Identifies the secret in every text that it seals. It reveals nothing about the secret. */
  readonly id: string;
  readonly key: Awaited<ReturnType<DerivationSecret["encryptionKey"]>>;
}

/** Seals and opens texts. The first secret seals, all of them open. */
export class Sealing {
  readonly #keys: readonly SecretKey[];

  private constructor(keys: readonly SecretKey[]) {
    this.#keys = keys;
  }

  static async with(secrets: readonly string[]): Promise<Sealing> {
    const keys = secrets.map(async (secret) => {
      const base = await DerivationSecret.from(new Uint8Array(encoder.encode(secret)));
      const id = toBase64Url(await base.bits("halyard backplane v1 id", 48));
      return { id, key: await base.encryptionKey("halyard backplane v1 key") };
    });
    return new Sealing(await Promise.all(keys));
  }

  /** The ids of the secrets, the sealing one first. */
  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** Encrypts and authenticates a text for one place, under the first secret or the one with that id. */
  async seal(text: string, place: string, id: string | undefined = this.#keys[0]?.id): Promise<string> {
    const found = this.#keys.find((key) => key.id === id);
    if (found === undefined) throw new TypeError("There is no secret");
    const plain = new Uint8Array(encoder.encode(text));
    return `${found.id}.${await encrypt(plain, found.key, `${found.id} ${place}`)}`;
  }

  /** The text, or undefined if no node with one of these secrets has sealed it for this place. */
  async open(sealed: string, place: string): Promise<string | undefined> {
    const dot = sealed.indexOf(".");
    const found = this.#keys.find(({ id }) => id === sealed.slice(0, dot));
    return found && decrypt(sealed.slice(dot + 1), found.key, `${found.id} ${place}`);
  }
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * Holds the sealed key of names: an empty list if nodes have no secret. It is the only value with a name that every node knows.
 */
const place: ValueKey = { kind: "key", tag: "names" };

const keyBytes = 32;
const digestBytes = 16;

/**
 * Replaces tags and names of logs by keyed digests. The key is random and kept in the engine, sealed with every secret of the nodes,
 * but does not depend on them, so that values and logs keep their names while secrets change. One digest for all kinds, so that the
 * values and the log of a session can stay together in an engine.
 */
export class HiddenNames {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #key: Key;

  private constructor(bytes: Uint8Array<ArrayBuffer>, key: Key) {
    this.#bytes = bytes;
    this.#key = key;
  }

  static async with(bytes: Uint8Array<ArrayBuffer>): Promise<HiddenNames> {
    const how = { name: "HMAC", hash: "SHA-256" };
    return new HiddenNames(bytes, await crypto.subtle.importKey("raw", bytes, how, false, ["sign"]));
  }

  async hide(name: string): Promise<string> {
    const signed = await crypto.subtle.sign("HMAC", this.#key, new Uint8Array(encoder.encode(name)));
    return toBase64Url(new Uint8Array(signed, 0, digestBytes));
  }

  /** The key, sealed with each secret of this node. */
  async #sealed(sealing: Sealing): Promise<string> {
    const text = toBase64Url(this.#bytes);
    const sealed = sealing.ids.map((id) => sealing.seal(text, place.tag, id));
    return JSON.stringify(await Promise.all(sealed));
  }

  /**
   * Finds the names of the running nodes, or makes new ones if no node runs. Rejects if other nodes run that have no secret in common
   * with this one; `othersRun` finds out.
   */
  static async agree(
    engine: Engine,
    sealing: Sealing | undefined,
    othersRun: () => Promise<boolean>,
  ): Promise<HiddenNames | undefined> {
    let names: HiddenNames | undefined;
    await changeValue(engine, place, "The key of names", async (stored) => {
      const found = stored && (await readNames(stored.text, sealing));
      if (found === undefined && stored !== undefined && (await othersRun())) throw mismatch(sealing);
      names = found?.names ?? (sealing && (await HiddenNames.with(newKey())));
      if (found?.isComplete) return undefined;
      return { text: sealing && names ? await names.#sealed(sealing) : "[]" };
    });
    return names;
  }

  /** Writes the key back if the engine has lost it. Resolves with the names that are valid from now on. */
  async restore(engine: Engine, sealing: Sealing): Promise<HiddenNames> {
    if (await engine.create(place, await this.#sealed(sealing), undefined)) return this;
    const stored = await engine.get(place);
    return (stored && (await readNames(stored.text, sealing))?.names) ?? this;
  }
}

interface Found {
  readonly names: HiddenNames | undefined;
  /** Whether the key is sealed with exactly the secrets of this node. */
  readonly isComplete: boolean;
}

/** Undefined if this node cannot use the names, because the others have other secrets. */
async function readNames(text: string, sealing: Sealing | undefined): Promise<Found | undefined> {
  const sealed = readJson(text);
  if (!isTexts(sealed)) return undefined;
  if (sealing === undefined) return sealed.length === 0 ? { names: undefined, isComplete: true } : undefined;
  const opened = await Promise.all(sealed.map((one) => sealing.open(one, place.tag)));
  const bytes = fromBase64Url(opened.find((one) => one !== undefined) ?? "");
  if (bytes?.length !== keyBytes) return undefined;
  const isComplete = opened.every((one) => one !== undefined) && sealed.length === sealing.ids.length;
  return { names: await HiddenNames.with(bytes), isComplete };
}

function newKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(keyBytes));
}

function mismatch(sealing: Sealing | undefined): ConfigurationError {
  const where = { subject: "backplane", field: "secret" };
  const problem = sealing
    ? "has nothing in common with that of the running nodes: pass the same, or secret: [new, old] while you change it"
    : "is missing, but the running nodes have one: pass the same to every node";
  return new ConfigurationError("INVALID_OPTION", where, problem);
}
