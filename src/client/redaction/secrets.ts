// The secrets of one client, such as its tokens and session ids. What finds them in texts is loaded when the first text of a server is shown.
import { type Later, later } from "../../async/later.ts";
import type { Redactor, Secret } from "./redactor.ts";
import { isPlainHeader, isSecretSetting } from "./secret-names.ts";

/** What is remembered, the newest first to stay: tokens and sessions change, and a server chooses the length of its session ids. */
const maxSecrets = 64;
const maxCharacters = 16_384;
/** Shorter ones are parts of ordinary texts. */
const minLength = 6;
const minUnsureLength = 8;

/** What replaces secrets. Most clients show nothing of what a server says. */
export const redaction: Later<typeof Redactor> = later(
  () => import("./redactor.ts"),
  (module) => module.Redactor,
);

export class Secrets {
  /** The newest last. */
  readonly #known = new Map<string, Secret>();
  #redactor: Redactor | undefined;

  /** Adds a value, with the parts that are secrets by themselves: the token after its scheme, the values of cookies. */
  add(value: string | undefined): void {
    if (value === undefined) return;
    const [, scheme, rest = value] = /^(bearer|basic|dpop|token) +(.+)/i.exec(value) ?? [];
    if (scheme?.toLowerCase() === "basic") this.#addBasic(rest);
    for (const part of rest.split(/[\s;,]+/)) {
      const [, given = part] = /^[\w.-]+="?(.*[^="])/.exec(part) ?? [];
      if (given.length >= minLength) this.#keep(given, false);
    }
  }

  addHeaders(headers: { readonly [name: string]: string }): void {
    for (const [name, value] of Object.entries(headers)) {
      if (isPlainHeader(name)) continue;
      if (isSecretSetting(name)) this.add(value);
      else this.addUnsure(value);
    }
  }

  /** Adds a value that is perhaps a secret, and perhaps an ordinary text. */
  addUnsure(value: string): void {
    if (value.length >= minUnsureLength) this.#keep(value, true);
  }

  /** Resolves with what replaces the secrets that are known now. */
  async redactor(): Promise<Redactor> {
    return this.redactorBy(await redaction.get());
  }

  /** The same for those who have loaded the class. */
  redactorBy(Class: typeof Redactor): Redactor {
    return (this.#redactor ??= new Class(this.#known.values()));
  }

  /** Resolves with the value, in which the secrets are replaced. */
  async clean<T>(value: T): Promise<T> {
    return this.#known.size === 0 ? value : (await this.redactor()).value(value);
  }

  #addBasic(encoded: string): void {
    try {
      const decoded = atob(encoded);
      this.add(decoded.slice(decoded.indexOf(":") + 1));
    } catch {
      // It is not Base64, and as such a secret like others.
    }
  }

  #keep(given: string, isUnsure: boolean): void {
    const value = given.slice(0, maxCharacters);
    const known = this.#known.get(value);
    if (known?.isUnsure !== isUnsure) this.#redactor = undefined;
    this.#known.delete(value);
    this.#known.set(value, { value, isUnsure });
    let characters = 0;
    for (const { length } of this.#known.keys()) characters += length;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxSecrets && characters <= maxCharacters) return;
      this.#known.delete(oldest);
      characters -= oldest.length;
    }
  }
}
