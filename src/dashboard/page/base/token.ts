// The token of the dashboard: it comes in the fragment of the address, leaves it at once, and is kept for this tab.
import { type Store, storeOf } from "./store.ts";

const place = "halyard-token";

/** The token that every question carries; undefined until somebody gives one, or after the server refused it. */
export const token: Store<string | undefined> = storeOf<string | undefined>(takeToken(), keep);

function takeToken(): string | undefined {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (given === undefined) return sessionStorage.getItem(place) ?? undefined;
  history.replaceState(null, "", location.pathname + location.search);
  const decoded = decodeURIComponent(given);
  keep(decoded);
  return decoded;
}

function keep(value: string | undefined): void {
  if (value === undefined) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, value);
}
