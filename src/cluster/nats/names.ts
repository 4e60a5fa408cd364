// Names of streams and subjects: whatever the characters of a prefix, tag or log, no two share a name.

/** Longer tokens are replaced by digests: the server ends a connection that sends a line of more than 4096 bytes. */
const longestToken = 256;

/** Escapes everything that a subject or the name of a stream may not have, and `_`, which separates the parts of such a name. */
function escape(text: string): string {
  if (text === "") return "=";
  return text.replaceAll(/[^A-Za-z0-9-]/g, (character) => {
    const unit = character.charCodeAt(0);
    return unit < 256 ? `=${hex(unit, 2)}` : `=u${hex(unit, 4)}`;
  });
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}

/** One token of a subject, for any text. */
export async function tokenOf(text: string): Promise<string> {
  const token = escape(text);
  if (token.length <= longestToken) return token;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return `=h${Array.from(digest, (byte) => hex(byte, 2)).join("")}`;
}

/** The names of one prefix. */
export class NatsNames {
  readonly #prefix: string;

  private constructor(prefix: string) {
    this.#prefix = prefix;
  }

  static async of(prefix: string): Promise<NatsNames> {
    return new NatsNames(await tokenOf(prefix));
  }

  stream(part: string): string {
    return `${this.#prefix}_${part}`;
  }

  subject(...tokens: readonly string[]): string {
    return [this.#prefix, ...tokens].join(".");
  }
}
