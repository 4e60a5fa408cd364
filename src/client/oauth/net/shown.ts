// How what a server has chosen appears in errors.

const maxShown = 300;

/** Quotes a value so that it can neither be mistaken for another one, nor do anything to a terminal. */
export function shown(value: unknown): string {
  const quoted = JSON.stringify(value) ?? "nothing";
  const safe = quoted.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return safe.length > maxShown ? `${safe.slice(0, maxShown)}…` : safe;
}
