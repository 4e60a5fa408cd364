// Replaces secrets in whole messages, for recordings and the dashboard: the values of fields with secret names, wherever they
// appear in the message, and the known secrets of the client.
import { readJson } from "../../base/wire/json.ts";
import { isObject } from "../../base/wire/message.ts";
import { ofField, redacted, type Redactor, redactorOf, replaceEach } from "./redactor.ts";
import { isSecretField } from "./secret-names.ts";
import { Secrets } from "./secrets.ts";

/**
 * A copy of a message without secrets. Results repeat their structure as text, and errors repeat the request, so the values of
 * fields with secret names are replaced everywhere, and added to `seen` for later messages. `others`: further secrets.
 */
export function withoutSecrets(message: unknown, ...known: [seen?: Secrets, ...others: Secrets[]]): unknown {
  const [seen = new Secrets(), ...others] = known;
  collect(message, seen);
  return new Copy([seen, ...others].map((secrets) => secrets.redactor(redactorOf))).of(message);
}

/** A text in which secrets are replaced as in messages. */
export function textWithoutSecrets(text: string): string {
  return new Copy([]).ofText(text);
}

/** Adds the secrets of a message, by the names of its fields. */
function collect(value: unknown, seen: Secrets): void {
  if (Array.isArray(value)) for (const item of value) collect(item, seen);
  if (!isObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!isSecret(name, inner)) collect(inner, seen);
    else for (const secret of [inner].flat(3)) seen.add(ofField, String(secret));
  }
}

/** The members of an object under such a name are checked one by one, so that the schema of a field `password` stays readable. */
function isSecret(name: string, value: unknown): boolean {
  if (value === null || typeof value === "boolean" || isObject(value)) return false;
  return isSecretField(name);
}

/** In the query of a URL or in a form. */
const pair = /(^|[?&#;,\s])([\w.-]{1,40})=([^&#;,\s"'<>]+)/g;
/** In a header that is repeated; a word with a digit, since "Bearer authentication" is no token. */
const scheme = /\b(bearer|basic|dpop)( +)(?=[^\s"']{0,200}\d)[\w.~+/=-]{16,}/gi;

class Copy {
  readonly #redactors: readonly Redactor[];

  constructor(redactors: readonly Redactor[]) {
    this.#redactors = redactors;
  }

  of(value: unknown): unknown {
    if (typeof value === "string") return this.ofText(value);
    if (typeof value === "number")
      return this.#redactors.some((redactor) => redactor.value(value) !== value) ? redacted : value;
    if (Array.isArray(value)) return value.map((item) => this.of(item));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([name, inner]) => [
      this.#known(name),
      isSecret(name, inner) ? redacted : this.of(inner),
    ]);
    return Object.fromEntries(entries);
  }

  ofText(text: string): string {
    const value = /^\s*[[{]/.test(text) ? readJson(text) : undefined;
    return (value === undefined ? undefined : this.#ofJson(text, value)) ?? this.#ofProse(text);
  }

  /** Undefined if the value is nested too deeply for the stack. */
  #ofJson(text: string, value: unknown): string | undefined {
    try {
      const safe = JSON.stringify(this.of(value));
      // If there is no secret, the text keeps its spaces and line breaks.
      return safe === JSON.stringify(value) ? text : safe;
    } catch {
      return undefined;
    }
  }

  #ofProse(text: string): string {
    const safe = this.#known(text).replaceAll(scheme, `$1$2${redacted}`);
    return replaceEach(safe, pair, ([whole, before = "", name = ""]) =>
      isSecretField(name) ? `${before}${name}=${redacted}` : whole,
    );
  }

  #known(text: string): string {
    return this.#redactors.reduce((safe, redactor) => redactor.text(safe), text);
  }
}
