// Replaces known secrets in texts of others, even if they are encoded, split or cut off, in linear time.
import { orders } from "../settings/shown.ts";
import { isPlainHeader, isSecretSetting } from "./secret-names.ts";

export const redacted = "[redacted]";

/** A value that a client has sent or received, and its name. */
export interface KnownValue {
  readonly name: string;
  readonly value: string;
}

/** Creates the redactor for these values. */
export type RedactorOf = (known: Iterable<KnownValue>) => Redactor;

/** A value to look for. */
interface Secret {
  readonly value: string;
  /** Whether it may be an ordinary text, such as the name of a tenant. Then only long parts of it are replaced. */
  readonly isUnsure: boolean;
}

/** The name of a value from a message field with a secret name. */
export const ofField = "field";

/** Shorter values occur in ordinary texts. */
const minLength = 6;
const minUnsureLength = 8;
/** A value with an ordinary name counts from this length on if it has no digits or no letters, as words and dates do. */
const minWordsLength = 24;

/** How many consecutive characters of a secret are replaced; a shorter secret is replaced as a whole. */
const leastRun = 16;
const leastUnsureRun = 32;
/** The shortest beginning of a secret that is replaced where a text is cut off. */
const leastStart = 4;

const gramLength = 4;
/** How many places of one gram are compared. A run has other grams too. */
const maxPlaces = 8;

/** A secret as it may appear in a text. */
interface Form {
  readonly text: string;
  readonly least: number;
}

interface Place {
  readonly form: Form;
  readonly at: number;
}

/** Creates a redactor for those values that are secrets. */
export function redactorOf(known: Iterable<KnownValue>): Redactor {
  const secrets: Secret[] = [];
  for (const { name, value } of known) secrets.push(...secretsIn(name, value));
  return new Redactor(secrets);
}

/** The secrets in a value: the token after its scheme, the password of Basic authentication, the values of cookies. */
function* secretsIn(name: string, value: string): Iterable<Secret> {
  if (isPlainHeader(name)) return;
  if (!isSecretSetting(name)) {
    const isPassword = name === ofField || (/\d/.test(value) && /[a-z]/i.test(value));
    if (value.length >= (isPassword ? minUnsureLength : minWordsLength)) yield { value, isUnsure: true };
    return;
  }
  const [, scheme, rest = value] = /^(bearer|basic|dpop|token) +(.+)/i.exec(value) ?? [];
  if (scheme?.toLowerCase() === "basic") yield* secretsIn("password", passwordIn(rest));
  for (const part of rest.split(/[\s;,]+/)) {
    const [, given = part] = /^[\w.-]+="?(.*[^="])/.exec(part) ?? [];
    if (given.length >= minLength) yield { value: given, isUnsure: false };
  }
}

/** The password of Basic authentication; nothing if it cannot be read. */
function passwordIn(encoded: string): string {
  try {
    const bytes = Uint8Array.from(atob(encoded), (unit) => unit.charCodeAt(0));
    return new TextDecoder().decode(bytes).replace(/^[^:]*:/, "");
  } catch {
    return "";
  }
}

export class Redactor {
  readonly #forms: Form[] = [];
  readonly #places = new Map<string, Place[]>();
  /** Each run that is long enough has a gram at one of the compared places. */
  #step = leastRun - gramLength + 1;

  constructor(secrets: Iterable<Secret>) {
    for (const { value, isUnsure } of secrets)
      for (const text of formsOf(value)) this.#add(text, isUnsure ? leastUnsureRun : leastRun);
  }

  /** The text without secrets. One that ends with "…" was cut off: the start of a secret before that is replaced, too. */
  text(said: string): string {
    if (this.#forms.length === 0) return said;
    const safe = this.#replaced(said, viewOf(said));
    return invisible.test(safe) ? this.#replaced(safe, viewOf(safe, escapeOrInvisible)) : safe;
  }

  #replaced(said: string, view: View): string {
    const spans = this.#find(view.text);
    if (said.endsWith("…")) spans.push(...this.#startAtEnd(view.text, spans.at(-1)?.[1] ?? 0));
    let safe = "";
    let end = 0;
    for (const [from, to] of spans) {
      const start = view.rawOf(from);
      // Adjacent spans count as one secret.
      if (start > end || safe === "") safe += said.slice(end, start) + redacted;
      end = view.rawOf(to);
    }
    return safe + said.slice(end);
  }

  /** The value, or a copy without secrets if it has some. Only texts, numbers and plain objects are searched. */
  value<T>(value: T): T {
    return this.#value(value) as T;
  }

  #value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.text(`${value}`) === `${value}` ? value : redacted;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (typeof value !== "object" || value === null || !isPlain(value)) return value;
    const before = Object.entries(value);
    const after = before.map(([key, inner]) => [this.text(key), this.#value(inner)] as const);
    const isSame = after.every(([key, inner], at) => key === before[at]?.[0] && inner === before[at]?.[1]);
    return isSame ? value : Object.fromEntries(after);
  }

  #add(text: string, run: number): void {
    const form = { text, least: Math.min(text.length, run) };
    this.#forms.push(form);
    this.#step = Math.min(this.#step, Math.max(1, form.least - gramLength + 1));
    for (let at = 0; at + gramLength <= text.length; at++) {
      const gram = text.slice(at, at + gramLength);
      const places = this.#places.get(gram);
      if (places === undefined) this.#places.set(gram, [{ form, at }]);
      else if (places.length < maxPlaces) places.push({ form, at });
    }
  }

  /** The places of secrets, in order. */
  #find(text: string): [from: number, to: number][] {
    const spans: [number, number][] = [];
    let done = 0;
    for (let at = 0; at + gramLength <= text.length; at += this.#step) {
      const places = this.#places.get(text.slice(at, at + gramLength)) ?? [];
      let longest: [number, number] = [at, at];
      for (const place of places) {
        const run = runAt(text, at, place, done);
        if (run[1] - run[0] >= Math.max(place.form.least, longest[1] - longest[0] + 1)) longest = run;
      }
      if (longest[1] === at) continue;
      spans.push(longest);
      done = longest[1];
      at = done - this.#step;
    }
    return spans;
  }

  /** The place of a secret's beginning at the end of a cut-off text, not before `start`. */
  #startAtEnd(text: string, start: number): [number, number][] {
    const rest = text.replace(halfEscape, "…").slice(start, -1);
    let longest = 0;
    for (const { text: form, least } of this.#forms)
      for (let length = least - 1; length >= Math.max(leastStart, longest + 1); length--)
        if (rest.endsWith(form.slice(0, length))) longest = length;
    return longest === 0 ? [] : [[start + rest.length - longest, text.length - 1]];
  }
}

/** A cut-off escape. */
const halfEscape = /(?:%(?:25){0,2}[0-9a-f]?|\\{1,6}(?:u0{0,2}[0-9a-f]?|x[0-9a-f]?)?|&#?x?[0-9a-z]{0,4})…$/i;

/** The longest run around a place of the text, not before `start`, that equals the form around its own place. */
function runAt(text: string, at: number, { form, at: place }: Place, start: number): [number, number] {
  let [from, to] = [at, at + gramLength];
  for (let left = place; from > start && left > 0 && text[from - 1] === form.text[left - 1]; left--) from--;
  for (let right = place + gramLength; to < text.length && text[to] === form.text[right]; right++) to++;
  return [from, to];
}

/** The forms in which servers repeat a value: as it is, in hexadecimal digits, and in Base64 after any text. */
function* formsOf(value: string): Iterable<string> {
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const asBytes = String.fromCharCode(...bytes);
  yield viewOf(value).text;
  // URL escapes encode the bytes of a character one by one.
  if (asBytes !== value) yield folded(asBytes);
  yield hex;
  for (const before of [0, 1, 2]) {
    const all = btoa("\0".repeat(before) + asBytes);
    // The first and the last characters also encode bits of the neighbouring bytes, so they are left out.
    const encoded = folded(all.slice(Math.ceil((before * 4) / 3)).replace(/.?=+$/, ""));
    if (encoded.length >= gramLength) yield encoded;
  }
}

/** A text in the form that is compared: with escapes decoded. */
interface View {
  readonly text: string;
  /** The corresponding place in the original text. Call it with ascending places. */
  rawOf(at: number): number;
}

/** Escapes of URLs, JSON, JavaScript and HTML, also escaped more than once. The last one changes its length in lower case. */
const escape =
  /%(?:25){0,2}([0-9a-f]{2})|\\{1,6}(?:u(?:00|\{0{0,4})([0-9a-f]{2})\}?|x([0-9a-f]{2})|(["'\\/]))|&#x0{0,6}([0-9a-f]{2});|&#0{0,6}(\d{2,3});|&(amp|quot|lt|gt|apos);|\u0130/gi;

/** Invisible characters: a secret that they split would look complete to a reader. */
const invisible = new RegExp(`${orders.source}|[\\u00ad\\u200b-\\u200f\\u2060\\ufeff]`);
const escapeOrInvisible = new RegExp(`${escape.source}|${invisible.source}`, "gi");

const entities: Readonly<Record<string, string>> = { amp: "&", quot: '"', lt: "<", gt: ">", apos: "'" };

function viewOf(raw: string, expression = escape): View {
  if (expression === escape && !/[%\\&\u0130]/.test(raw)) return { text: folded(raw), rawOf: (at) => at };
  return { text: folded(replaceEach(raw, expression, decoded)), rawOf: rawPlaces(raw, expression) };
}

/** How many decoded pieces of a text are kept in memory. */
const maxPieces = 4096;

/**
 * Replaces the matches of a global expression. `replaceAll` collects all matches first, which can take a hundred times the memory
 * of the text.
 */
export function replaceEach(
  text: string,
  expression: RegExp,
  replacement: (match: RegExpExecArray) => string,
): string {
  let replaced = "";
  let pieces: string[] = [];
  let end = 0;
  for (const match of text.matchAll(expression)) {
    pieces.push(text.slice(end, match.index), replacement(match));
    end = match.index + match[0].length;
    if (pieces.length < maxPieces) continue;
    replaced += pieces.join("");
    pieces = [];
  }
  return replaced + pieces.join("") + text.slice(end);
}

/** The character of an escape; empty for an invisible one. */
function decoded([whole, url, unit, byte, plain, hex, decimal, name]: RegExpExecArray): string {
  if (!/^[%\\&\u0130]/.test(whole)) return "";
  const digits = url ?? unit ?? byte ?? hex;
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
  return plain ?? entities[name?.toLowerCase() ?? ""] ?? String.fromCharCode(code || 0x69);
}

/** Searches for the escapes again, up to the last requested place, because there may be too many to store. */
function rawPlaces(raw: string, expression: RegExp): View["rawOf"] {
  const escapes = raw.matchAll(expression);
  let next = escapes.next();
  let ahead = 0;
  return (at) => {
    for (; next.done !== true && next.value.index - ahead < at; next = escapes.next())
      ahead += next.value[0].length - decoded(next.value).length;
    return at + ahead;
  };
}

/** The text without the differences of case and of the two Base64 alphabets. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll("-", "+").replaceAll("_", "/");
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
