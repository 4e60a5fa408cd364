// Replaces tags and names of logs by keyed digests. The key is random and kept in the engine, sealed with every secret of the nodes.
import { ConfigurationError } from "../../base/errors.ts";
import { fromBase64Url, toBase64Url } from "../../base/wire/base64.ts";
import { readJson } from "../../base/wire/json.ts";
import { isTexts } from "../../base/wire/message.ts";
import type { Engine, ValueKey } from "./engine.ts";
import type { Sealing } from "./sealing.ts";
import { changeValue } from "./edits.ts";

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * Holds the sealed key of names: an empty list if nodes have no secret. It is the only value with a name that every node knows.
 */
const place: ValueKey = { kind: "key", tag: "names" };

const keyBytes = 32;
const digestBytes = 16;
const encoder = new TextEncoder();

/**
 * A key of names that does not depend on the secrets, so that values and logs keep their names while secrets change. One digest for
 * all kinds, so that the values and the log of a session can stay together in an engine.
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
