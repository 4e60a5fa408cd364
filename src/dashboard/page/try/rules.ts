// Checks the value of a field, and describes problems to the user. The server still validates everything.
import type { Field, Shape } from "./fields.ts";

/** What is wrong with the value; undefined if nothing is. */
export function problemOf({ isRequired, shape }: Field, value: unknown): string | undefined {
  if (value === undefined)
    return isRequired && shape.kind !== "constant" ? (missing[shape.kind] ?? "Fill this in") : undefined;
  if (shape.kind === "text") return textProblem(shape, value);
  if (shape.kind === "number") return numberProblem(shape, value);
  if (shape.kind === "list" || shape.kind === "choices") return listProblem(shape, value);
  return undefined;
}

const missing: Readonly<Partial<Record<Shape["kind"], string>>> = {
  text: "Fill this in; to send an empty text, use JSON",
  choice: "Choose one",
  choices: "Choose at least one",
  json: "Write a JSON value",
};

/** Formats that are checked, with an example. */
const formats: Readonly<Record<string, readonly [pattern: RegExp, example: string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, "ada@example.com"],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, "https://example.com/page"],
  date: [/^\d{4}-\d\d-\d\d$/, "2027-03-14"],
  "date-time": [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i, "2027-03-14T09:30:00Z"],
  time: [/^\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/i, "09:30:00Z"],
};

/** An example of a text in this format. */
export function exampleOf(format: string | undefined): string | undefined {
  return format !== undefined && Object.hasOwn(formats, format) ? formats[format]?.[1] : undefined;
}

function textProblem(shape: Shape & { kind: "text" }, value: unknown): string | undefined {
  if (typeof value !== "string") return "Write a text";
  const length = [...value].length;
  if (length < shape.minLength) return `Write at least ${shape.minLength} characters`;
  if (length > shape.maxLength) return `Write at most ${shape.maxLength} characters: these are ${length}`;
  const example = exampleOf(shape.format);
  if (shape.format !== undefined && example !== undefined && !formats[shape.format]?.[0].test(value))
    return `Write it as in ${example}`;
  if (shape.pattern !== undefined && !matches(shape.pattern, value)) return `It must match ${shape.pattern}`;
  return undefined;
}

/** Longer texts are not matched against patterns. */
const maxMatched = 1000;

/** Whether a text matches the server's pattern. Patterns that can take long are left to the server. */
function matches(pattern: string, text: string): boolean {
  const repeats = pattern.match(/[*+]|\{\d*,/g)?.length ?? 0;
  const isCostly = repeats > 2 || /\)[*+{]|\\[1-9k]|\(\?[=!<]/.test(pattern);
  if (isCostly || pattern.length > maxMatched || text.length > maxMatched) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

function numberProblem(shape: Shape & { kind: "number" }, value: unknown): string | undefined {
  const { isInteger, above, min, max, below, multipleOf } = shape;
  if (typeof value !== "number") return isInteger ? "Write a whole number" : "Write a number";
  if (isInteger && !Number.isInteger(value)) return "Write a whole number";
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return "The number is too large to be exact";
  if (min !== undefined && value < min) return `Write a number of at least ${min}`;
  if (max !== undefined && value > max) return `Write a number of at most ${max}`;
  if (above !== undefined && value <= above) return `Write a number above ${above}`;
  if (below !== undefined && value >= below) return `Write a number below ${below}`;
  const quotient = multipleOf ? value / multipleOf : 0;
  if (Math.abs(quotient - Math.round(quotient)) > 1e-9) return `Write a multiple of ${multipleOf}`;
  return undefined;
}

function listProblem(shape: Shape & { kind: "list" | "choices" }, value: unknown): string | undefined {
  if (!Array.isArray(value)) return "Write a list";
  if (value.length < shape.minItems) return `Add at least ${shape.minItems}: there are ${value.length}`;
  if (value.length > shape.maxItems) return `At most ${shape.maxItems}: there are ${value.length}`;
  return undefined;
}

/** The limits of a number in a few words, such as "1 to 1000"; empty if it has none, or those of exact integers. */
export function limitsOf(shape: Shape): string {
  if (shape.kind !== "number") return "";
  const [min, max] = [shape.min, shape.max].map((limit) => (isEndless(limit) ? undefined : limit));
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  const words = Object.entries({ "at least": min, "at most": max, above: shape.above, below: shape.below });
  return words.flatMap(([word, limit]) => (limit === undefined ? [] : `${word} ${limit}`)).join(", ");
}

/** Libraries write the range of exact integers as limits. */
function isEndless(limit: number | undefined): boolean {
  return limit !== undefined && Math.abs(limit) >= Number.MAX_SAFE_INTEGER;
}
