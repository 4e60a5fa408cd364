// The names of tools of several servers: prefixed, short enough for every model, unique, and mapped back.
import { ConfigurationError } from "../errors.ts";

/** What models accept as the name of a tool: at most 64 letters, digits, `_` and `-`. */
const maxLength = 64;
const plain = /^[a-zA-Z0-9_-]+$/;
const maxServerName = 32;

/** How shortened names end. A tool whose own name ends like that is renamed too, so that no two are confused. */
const digestLength = 16;
const shortened = new RegExp(`-[0-9a-f]{${digestLength}}$`);

/** A prefixed name, taken apart. */
export interface PrefixedName {
  readonly server: string;
  /** The name of the tool at its server; undefined if it was shortened, so that only the list of tools tells. */
  readonly tool: string | undefined;
}

/**
 * Throws unless each name can be a prefix, and none is the beginning of another one: with `a` and `a_b`, the name `a_b_c` could mean two
 * tools.
 */
export function checkServerNames(names: readonly string[]): void {
  const fail = (name: string, problem: string): never => {
    throw new ConfigurationError("INVALID_NAME", { subject: "connectAll", field: `"${name}"` }, problem);
  };
  for (const name of names) {
    if (!plain.test(name) || name.length > maxServerName)
      fail(
        name,
        `must have at most ${maxServerName} letters, digits, _ and -, since it begins the names of tools`,
      );
    const other = names.find((longer) => longer.startsWith(`${name}_`));
    if (other !== undefined)
      fail(name, `begins "${other}", so that their tools could not be told apart: rename one of them`);
  }
}

/** The name of a tool among those of all servers. */
export function toPrefixed(server: string, tool: string): string {
  const room = maxLength - server.length - 1;
  if (plain.test(tool) && tool.length <= room && !shortened.test(tool)) return `${server}_${tool}`;
  const readable = tool.replaceAll(/[^a-zA-Z0-9_-]/g, "-").slice(0, room - digestLength - 1);
  return `${server}_${readable}-${digestOf(tool)}`;
}

/** Takes a prefixed name apart; undefined if it begins with no server's name. */
export function fromPrefixed(servers: Iterable<string>, name: string): PrefixedName | undefined {
  for (const server of servers) {
    if (!name.startsWith(`${server}_`)) continue;
    const tool = name.slice(server.length + 1);
    return { server, tool: shortened.test(tool) ? undefined : tool };
  }
  return undefined;
}

/** 64 bits of FNV-1a. They only tell apart the tools of one server, which could confuse nobody but itself. */
function digestOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(digestLength, "0");
}
