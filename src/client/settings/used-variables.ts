// The environment variables whose values are part of what clients connect to: nothing that is shown has those values.

/** Shorter values are parts of ordinary texts. */
const minLength = 6;

/** Values by name. The environment belongs to the whole process, and so does this. */
const used = new Map<string, string>();

/** Tells that a client connects to something that has the value of that variable in it. */
export function useVariable(name: string, value: string): void {
  if (value.length >= minLength) used.set(name, value);
}

export function usedVariables(): Iterable<readonly [name: string, value: string]> {
  return used;
}

/** The text with the names of variables, as `${NAME}`, where it has their values, also where a URL encodes those. */
export function withVariableNames(text: string): string {
  let safe = text;
  const longestFirst = [...used].toSorted(([, one], [, other]) => other.length - one.length);
  for (const [name, value] of longestFirst)
    for (const form of [value, encodeURI(value), encodeURIComponent(value)])
      safe = safe.replaceAll(form, () => `\${${name}}`);
  return safe;
}
