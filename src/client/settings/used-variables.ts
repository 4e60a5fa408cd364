// The environment variables whose values are part of what clients connect to: nothing that is shown has those values.

/** Shorter values are parts of ordinary texts. */
const minLength = 6;

/** Values by the names of variables. */
export type Variables = Map<string, string>;

/** Those that are secrets. The environment belongs to the whole process, and so do these. */
const secrets: Variables = new Map();
/** Others would be found in what has nothing to do with them, such as `localhost`. */
const byHost = new Map<string, Variables>();
const byCommand = new WeakMap<object, Variables>();

/** Tells that a target, a URL or a command, has the values of these variables in it. */
export function useVariables(target: unknown, used: Variables, isSecret: (name: string) => boolean): void {
  const long = [...used].filter(([, value]) => value.length >= minLength);
  for (const [name, value] of long) if (isSecret(name)) secrets.set(name, value);
  if (typeof target !== "string") return void byCommand.set(target as object, new Map(long));
  const host = hostOf(target);
  byHost.set(host, new Map([...(byHost.get(host) ?? []), ...long]));
}

/** The variables of a target, and all that are secrets. */
export function variablesOf(target: unknown): Variables {
  const isUrl = typeof target === "string" || target instanceof URL;
  const own = isUrl ? byHost.get(hostOf(String(target))) : byCommand.get(Object(target));
  return new Map([...secrets, ...(own ?? [])]);
}

/** The host of a URL, which may lack its scheme; a text that is no URL is its own. */
function hostOf(url: string): string {
  const whole = url.includes("://") ? url : `http://${url}`;
  return (URL.canParse(whole) && new URL(whole).host) || url;
}

/** The text with the names of variables, as `${NAME}`, where it has their values, also where a URL encodes those. */
export function withVariableNames(text: string, variables: Variables): string {
  let safe = text;
  const longestFirst = [...variables].toSorted(([, one], [, other]) => other.length - one.length);
  for (const [name, value] of longestFirst)
    for (const form of [value, encodeURI(value), encodeURIComponent(value)])
      safe = safe.replaceAll(form, () => `\${${name}}`);
  return safe;
}
