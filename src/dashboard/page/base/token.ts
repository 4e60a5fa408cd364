// The token of the dashboard: taken and removed from the fragment of the address, and kept for this tab.
import { type Store, storeOf } from "./store.ts";

const place = "halyard-token";
const mark = "#token=";

/** The token that every question carries; undefined until the user gives one, or after the server refused it. */
export const token: Store<string | undefined> = storeOf<string | undefined>(takeToken(), keep);

function takeToken(): string | undefined {
  if (!location.hash.startsWith(mark)) return sessionStorage.getItem(place) ?? undefined;
  const given = tokenIn(location.hash);
  history.replaceState(null, "", location.pathname + location.search);
  keep(given);
  return given;
}

/** The token in an address that has one, or the text itself. */
export function tokenIn(text: string): string {
  const found = text.includes(mark) ? text.slice(text.indexOf(mark) + mark.length) : text;
  try {
    return decodeURIComponent(found.trim());
  } catch {
    return found;
  }
}

function keep(value: string | undefined): void {
  if (value === undefined) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, value);
}
