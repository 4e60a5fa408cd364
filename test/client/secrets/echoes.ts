// How servers repeat what they received, and what of it can be seen in errors, events and recordings.
import { inspect } from "node:util";

/** A token with the characters that encodings change, and a key and a session id without. */
export const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.q+8/Zx_k-Tw~Jm5rVd0LQ2sYh3nPb9aGfUeXcWoIi7B";
export const apiKey = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
export const sessionId = "0c9d1f9e-6c07-4b0a-8f5b-3a2d4c5e6f70";

const hexOf = (text: string): string => Buffer.from(text).toString("hex");
const escaped = (text: string, prefix: string, suffix = ""): string =>
  Array.from(Buffer.from(text), (byte) => prefix + byte.toString(16).padStart(2, "0") + suffix).join("");

/** The encodings in which echo servers, gateways and frameworks show a request. */
export const encodings: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in capital letters": (secret) => secret.toUpperCase(),
  "in Base64": (secret) => Buffer.from(secret).toString("base64"),
  "in Base64 for URLs": (secret) => Buffer.from(secret).toString("base64url"),
  "in Base64 after one character": (secret) => Buffer.from(`x${secret}y`).toString("base64"),
  "in Base64 with a whole header": (secret) =>
    Buffer.from(JSON.stringify({ authorization: `Bearer ${secret}`, more: 1 })).toString("base64"),
  "in Base64 within a URL": (secret) => encodeURIComponent(Buffer.from(`ab${secret}`).toString("base64")),
  "in hexadecimal digits": hexOf,
  "in capital hexadecimal digits": (secret) => hexOf(secret).toUpperCase(),
  "encoded for a URL": (secret) => encodeURIComponent(secret),
  "encoded for a URL, twice": (secret) => encodeURIComponent(encodeURIComponent(secret)),
  "encoded for a URL, each byte": (secret) => escaped(secret, "%"),
  "escaped for JSON": (secret) => escaped(secret, "\\u00"),
  "escaped for JSON as PHP does": (secret) => secret.replaceAll("/", "\\/"),
  "escaped for JSON, in JSON": (secret) => JSON.stringify(escaped(secret, "\\u00")).slice(1, -1),
  "escaped for JavaScript": (secret) => escaped(secret, "\\x"),
  "escaped for newer JavaScript": (secret) => escaped(secret, "\\u{", "}"),
  "escaped for HTML": (secret) => escaped(secret, "&#x", ";"),
  "escaped for HTML with zeros": (secret) => escaped(secret, "&#x0000", ";"),
  "without its end": (secret) => secret.slice(0, 20),
  "without its start": (secret) => secret.slice(-20),
};

/** Everything that a value shows to who prints it, logs it, or turns it into JSON. */
export function shownBy(value: unknown): string {
  const { stack, cause } = (value ?? {}) as { readonly stack?: string; readonly cause?: unknown };
  const deep = inspect(value, { depth: 20, maxStringLength: null, showHidden: true });
  return [deep, JSON.stringify(value), stack, cause === undefined ? "" : shownBy(cause)].join("\n");
}

/**
 * The parts of an echo that would tell the secret: each run of twelve characters, as it is and as JSON has it, that is not in `plain`,
 * which repeats another value in the same way.
 */
export function leaked(text: string, echo: string, plain = ""): string[] {
  const parts: string[] = [];
  for (let at = 0; at + 12 <= echo.length; at += 1) parts.push(echo.slice(at, at + 12));
  return parts.filter(
    (part) =>
      !plain.includes(part) && (text.includes(part) || text.includes(JSON.stringify(part).slice(1, -1))),
  );
}
