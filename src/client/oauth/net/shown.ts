// How what a server has chosen appears in errors.
import { shownUrl } from "../../settings/shown.ts";

const maxShown = 300;

/** Quotes a value so that it can neither be mistaken for another one, nor do anything to a terminal. URLs have no query. */
export function shown(value: unknown): string {
  const isSecretive = typeof value === "string" && /^\w+:\/\/[^/]*(?:@|.*[?#])/s.test(value);
  const quoted = JSON.stringify(isSecretive ? shownUrl(value) : value) ?? "nothing";
  const safe = quoted.replace(/[^ -~…]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return safe.length > maxShown ? `${safe.slice(0, maxShown)}…` : safe;
}
