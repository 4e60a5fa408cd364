// Seals texts for the engine with the secrets of `BackplaneOptions`, so that only nodes with a common secret can read or write them.
import { decrypt, encrypt } from "../../base/wire/aes-gcm.ts";
import { toBase64Url } from "../../base/wire/base64.ts";
import { DerivationSecret } from "../../base/wire/hkdf.ts";

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
