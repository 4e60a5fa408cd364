// Parses RFC 6570 (level 4) URI templates into literals and expressions.

/** The row of an operator in appendix A of the RFC. Each expression has its own object. */
export interface Operator {
  readonly first: string;
  readonly sep: string;
  /** Whether the name of the variable stands before its value. */
  readonly named: boolean;
  /** Whether reserved characters and existing percent-escapes stay as they are. */
  readonly reserved: boolean;
}

/** One appearance of a variable. */
export interface Variable {
  readonly operator: Operator;
  readonly name: string;
  readonly explode: boolean;
  /** The prefix modifier: at most this many characters of the value; Infinity without one. */
  readonly max: number;
}

/** A percent-encoded literal and the variables of the expression after it; either may be empty. */
export interface TemplatePart {
  readonly literal: string;
  readonly variables: readonly Variable[];
}

// There is one way to match, so it never backtracks. The bound of 65536 characters for a name keeps it within the stack
// limit of regular expressions.
const VARIABLE = /((?!\.)(?:\.?(?:\w|%[\da-f]{2})){1,65536})(\*|:[1-9]\d{0,3}(?!\d))?/iy;
// The characters that section 2.1 excludes, except the apostrophe, which erratum 6937 allows: a percent sign outside an
// escape, some of ASCII, and characters that are neither ucschar nor iprivate in RFC 3987.
const ILLEGAL = /%(?![\dA-Fa-f]{2})|[ "<>\\^`{|}\p{Cc}\p{Cs}\p{NChar}\ufff0-\uffff\u{e0000}-\u{e0fff}]/u;

function fail(source: string, position: number): never {
  const found = JSON.stringify(source[position]);
  throw new SyntaxError(
    `Invalid URI template ${JSON.stringify(source)}: unexpected ${found} at position ${position}`,
  );
}

/** Parses the expression whose brace is at `start`; `symbol` is its operator or empty. */
function parseExpression(source: string, start: number, symbol: string): Variable[] {
  if (!source.includes("}", start)) fail(source, start);
  const reserved = /[+#]/.test(symbol);
  const operator = {
    first: symbol === "+" ? "" : symbol,
    sep: reserved || symbol === "" ? "," : symbol.replace("?", "&"),
    named: /[;?&]/.test(symbol),
    reserved,
  };
  const variables: Variable[] = [];
  let at = start + symbol.length;
  do {
    at += 1;
    VARIABLE.lastIndex = at;
    const [spec, name = "", modifier = ""] = VARIABLE.exec(source) ?? fail(source, at);
    variables.push({ operator, name, explode: modifier === "*", max: Number(modifier.slice(1)) || Infinity });
    at += spec.length;
  } while (source[at] === ",");
  if (source[at] !== "}") fail(source, at);
  return variables;
}

/** Throws SyntaxError with the template and the position if `source` is invalid by RFC 6570. */
export function parse(source: string): TemplatePart[] {
  const parts = source.matchAll(/([^{]*)(?:\{([+#./;?&]?)[^}]*\}?)?/g);
  return Array.from(parts, ({ 1: text = "", 2: symbol, index }) => {
    const illegal = text.search(ILLEGAL);
    if (illegal >= 0) fail(source, index + illegal);
    return {
      literal: text.replace(/[^\0-\x7f]+/g, encodeURIComponent),
      variables: symbol === undefined ? [] : parseExpression(source, index + text.length, symbol),
    };
  });
}
