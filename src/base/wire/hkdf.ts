// Derives keys from a secret with HKDF-SHA256, one for each purpose.

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const encoder = new TextEncoder();
const salt = new Uint8Array();

/** A secret that keys are derived from. */
export class DerivationSecret {
  readonly #base: Key;

  private constructor(base: Key) {
    this.#base = base;
  }

  static async from(secret: Uint8Array<ArrayBuffer>): Promise<DerivationSecret> {
    const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey", "deriveBits"]);
    return new DerivationSecret(base);
  }

  /** A key of AES-256-GCM. */
  encryptionKey(purpose: string): Promise<Key> {
    const kind = { name: "AES-GCM", length: 256 };
    return crypto.subtle.deriveKey(from(purpose), this.#base, kind, false, ["encrypt", "decrypt"]);
  }

  /** Bits that reveal nothing about the secret or its keys. */
  async bits(purpose: string, length: number): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await crypto.subtle.deriveBits(from(purpose), this.#base, length));
  }
}

function from(purpose: string): {
  readonly name: string;
  readonly hash: string;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly info: Uint8Array<ArrayBuffer>;
} {
  return { name: "HKDF", hash: "SHA-256", salt, info: new Uint8Array(encoder.encode(purpose)) };
}
