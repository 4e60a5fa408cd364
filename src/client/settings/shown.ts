// How addresses and texts of others appear in errors, events and logs: printable, and with the names of environment variables in
// place of their values.
import { clip } from "../../base/errors.ts";

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

/** Shorter values occur in ordinary texts. */
const minLength = 6;

/** Values by the names of variables. */
export type Variables = Map<string, string>;

/** The secret ones. They apply to the whole process, as the environment does. */
const secrets: Variables = new Map();
/** The variables that are not secrets, by host, because values such as `localhost` also occur in unrelated texts. */
const byHost = new Map<string, Variables>();
const byCommand = new WeakMap<object, Variables>();

/** Registers that a target, a URL or a command, contains the values of these variables. */
export function useVariables(target: unknown, used: Variables, isSecret: (name: string) => boolean): void {
  const long = [...used].filter(([, value]) => value.length >= minLength);
  for (const [name, value] of long) if (isSecret(name)) secrets.set(name, value);
  if (typeof target !== "string") return void byCommand.set(target as object, new Map(long));
  const host = hostOf(target);
  byHost.set(host, new Map([...(byHost.get(host) ?? []), ...long]));
}

/** The variables of a target, and all secret ones. */
export function variablesOf(target: unknown): Variables {
  const isUrl = typeof target === "string" || target instanceof URL;
  const own = isUrl ? byHost.get(hostOf(String(target))) : byCommand.get(Object(target));
  return new Map([...secrets, ...(own ?? [])]);
}

/** The host of a URL, which may lack its scheme; for any other text, the text itself. */
function hostOf(url: string): string {
  const whole = url.includes("://") ? url : `http://${url}`;
  return (URL.canParse(whole) && new URL(whole).host) || url;
}

/** The text with the values of variables replaced by their names, as `${NAME}`, also where a URL encodes the values. */
export function withVariableNames(text: string, variables: Variables): string {
  let safe = text;
  const longestFirst = [...variables].toSorted(([, one], [, other]) => other.length - one.length);
  for (const [name, value] of longestFirst)
    for (const form of [value, encodeURI(value), encodeURIComponent(value)])
      safe = safe.replaceAll(form, () => `\${${name}}`);
  return safe;
}

/** The id of a task in an error. It is escaped or shortened if it is long or has characters that could pass for other text. */
export function shownId(id: string): string {
  return /^[\x21-\x7e]{1,100}$/.test(id) ? id : clip(JSON.stringify(id));
}
