// Keywords about numbers.
import type { Payer } from "./budget.ts";
import type { Keyword, KeywordTable, Surroundings } from "./keyword.ts";
import type { NodeCheck } from "./node.ts";

function bound(
  compile: (limit: number, surroundings: Surroundings) => NodeCheck<number> | undefined,
): Keyword {
  return { about: ["number", "integer"], compile };
}

/** In draft 4, `exclusiveMinimum` and `exclusiveMaximum` are flags for the limit beside them. */
const isFlag = (setting: unknown): boolean => typeof setting === "boolean";
const atLeast = (limit: number): NodeCheck<number> => {
  const problem = `must be ${limit} or more`;
  return (value, run) => value >= limit || run.fail(problem);
};
const above = (limit: number): NodeCheck<number> => {
  const problem = `must be more than ${limit}`;
  return (value, run) => value > limit || run.fail(problem);
};
const atMost = (limit: number): NodeCheck<number> => {
  const problem = `must be ${limit} or less`;
  return (value, run) => value <= limit || run.fail(problem);
};
const below = (limit: number): NodeCheck<number> => {
  const problem = `must be less than ${limit}`;
  return (value, run) => value < limit || run.fail(problem);
};

export const numberKeywords: KeywordTable = [
  ["minimum", bound((limit, { schema }) => (schema["exclusiveMinimum"] === true ? above : atLeast)(limit))],
  ["maximum", bound((limit, { schema }) => (schema["exclusiveMaximum"] === true ? below : atMost)(limit))],
  ["exclusiveMinimum", bound((limit) => (isFlag(limit) ? undefined : above(limit)))],
  ["exclusiveMaximum", bound((limit) => (isFlag(limit) ? undefined : below(limit)))],
  ["multipleOf", bound(multipleOf)],
];

/** The relative error of a quotient of two rounded numbers. */
const precision = 2 ** -51;

function multipleOf(divisor: number): NodeCheck<number> {
  const problem = `must be a multiple of ${divisor}`;
  return (value, run) => isMultiple(value, divisor, run) || run.fail(problem);
}

function isMultiple(value: number, divisor: number, payer: Payer): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const quotient = value / divisor;
  // Rounding hides whether a quotient near an integer is one, so only the decimals tell.
  if (Math.abs(quotient - Math.round(quotient)) > Math.abs(quotient) * precision) return false;
  payer.spend(40);
  const [digits, exponent] = decimalOf(value);
  const [divisorDigits, divisorExponent] = decimalOf(divisor);
  const least = Math.min(exponent, divisorExponent);
  const scaled = digits * 10n ** BigInt(exponent - least);
  return scaled % (divisorDigits * 10n ** BigInt(divisorExponent - least)) === 0n;
}

/** The decimal that JSON writes for a number: digits, and the power of ten to multiply them by. */
function decimalOf(value: number): [digits: bigint, exponent: number] {
  const [digits = "", exponent] = value.toExponential().split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
