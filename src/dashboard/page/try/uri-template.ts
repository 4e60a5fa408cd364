// The variables of a resource template, and the URI that it makes of their values (RFC 6570, with texts as values).

const expressions = /\{([+#./;?&]?)([^{}]+)\}/g;

/** The names of the variables, each once. */
export function variablesOf(template: string): string[] {
  const names = [...template.matchAll(expressions)].flatMap(([, , list = ""]) => namesOf(list));
  return [...new Set(names)];
}

interface Operator {
  readonly first: string;
  readonly between: string;
  /** Whether `name=` stands before each value. */
  readonly isNamed: boolean;
  /** Whether characters such as `/` stay as they are. */
  readonly keepsReserved: boolean;
}

const plain: Operator = { first: "", between: ",", isNamed: false, keepsReserved: false };
const operators: Readonly<Record<string, Operator>> = {
  "+": { ...plain, keepsReserved: true },
  "#": { ...plain, first: "#", keepsReserved: true },
  ".": { ...plain, first: ".", between: "." },
  "/": { ...plain, first: "/", between: "/" },
  ";": { ...plain, first: ";", between: ";", isNamed: true },
  "?": { ...plain, first: "?", between: "&", isNamed: true },
  "&": { ...plain, first: "&", between: "&", isNamed: true },
};

/** The URI for these values; variables without one are left out. */
export function expand(template: string, values: ReadonlyMap<string, string>): string {
  return template.replaceAll(expressions, (_, sign: string, list: string) => {
    const operator = operators[sign] ?? plain;
    const parts = namesOf(list).flatMap((name) => {
      const value = values.get(name);
      if (value === undefined) return [];
      const encoded = operator.keepsReserved ? encodeURI(value) : encodeStrictly(value);
      return operator.isNamed ? `${name}=${encoded}` : encoded;
    });
    return parts.length === 0 ? "" : operator.first + parts.join(operator.between);
  });
}

/** Names without the modifiers `*` and `:3`. */
function namesOf(list: string): string[] {
  return list.split(",").map((name) => name.trim().replace(/\*$|:\d+$/, ""));
}

function encodeStrictly(value: string): string {
  return encodeURIComponent(value).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
