// The environment variables whose values are part of the targets of clients: these values are never shown.

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
