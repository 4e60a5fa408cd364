// Parsing RFC 6570 (level 4) URI templates into literals and expressions.

/** What the table in appendix A of the RFC says of an operator; an object of its own for each expression. */
export interface Operator {
  readonly first: string;
  readonly sep: string;
  /** True when a value has the name of its variable before it. */
  readonly named: boolean;
  /** True when reserved characters and existing percent-escapes pass through unencoded. */
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

/** A literal, already percent-encoded, and the variables of the expression behind it; either may be missing. */
export interface TemplatePart {
  readonly literal: string;
  readonly variables: readonly Variable[];
}

// It has one way to match, so it never backtracks. The bound keeps it clear of the stack limit of regular expressions:
// a name of more than 65536 characters is refused.
const VARIABLE = /((?!\.)(?:\.?(?:\w|%[\da-f]{2})){1,65536})(\*|:[1-9]\d{0,3}(?!\d))?/iy;
// What section 2.1 leaves out, but for the apostrophe, which is legal by erratum 6937: a percent sign outside an
// escape, some of ASCII, and what is neither ucschar nor iprivate in RFC 3987.
const ILLEGAL = /%(?![\dA-Fa-f]{2})|[ "<>\\^`{|}\p{Cc}\p{Cs}\p{NChar}\ufff0-\uffff\u{e0000}-\u{e0fff}]/u;

function fail(source: string, position: number): never {
  const found = JSON.stringify(source[position]);
  throw new SyntaxError(
    `Invalid URI template ${JSON.stringify(source)}: unexpected ${found} at position ${position}`,
  );
}

/** Parses from the opening brace at `start`, which `symbol` follows: the operator, or nothing. */
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

/** Throws SyntaxError, naming the template and the position, when RFC 6570 makes `source` invalid. */
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
