// How addresses and texts of others appear in errors, events and logs.
import { clip } from "../../base/errors.ts";
import { variablesOf, withVariableNames } from "./used-variables.ts";

/**
 * An address without credentials, query and fragment, which may hold secrets; "?…" stands for a query. Of an address without a
 * host, such as `javascript:`, only the scheme is shown. Values of environment variables that are part of a target at that host
 * are replaced by the names of the variables.
 */
export function shownUrl(url: string): string {
  return withVariableNames(withoutQuery(url), variablesOf(url));
}

function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return printable(clip(url.replace(/\/\/[^/?#]*@/, "//").replace(/[?#].*/s, "?…")));
  const { protocol, host, pathname, search } = new URL(url);
  const query = search && "?…";
  return host === "" ? `${protocol}…` : `${protocol}//${host}${pathname}${query}`;
}

/** Terminal control sequences: colours, cursor moves, titles, and text that runs backwards. */
export const orders: RegExp =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]|[\0-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text of others without terminal control sequences. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(orders, "");
}
