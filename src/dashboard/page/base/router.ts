// Hash routes: `#/sessions`, `#/session/<peer>`. The first part names the view, the rest is the view's.
import { storeOf } from "./store.ts";

export interface Route {
  readonly path: string;
  readonly rest: readonly string[];
}

/** The route in the address. */
export const route = storeOf<Route>(readRoute());

addEventListener("hashchange", () => route.set(readRoute()));

/** The address of a view, for links: `hrefOf("session", peer)`. */
export function hrefOf(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Opens a view. */
export function go(...parts: readonly string[]): void {
  location.hash = hrefOf(...parts);
}

function readRoute(): Route {
  const [path = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decode);
  return { path: path === "" ? "now" : path, rest };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
