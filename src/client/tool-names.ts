// The names of tools of several servers: prefixed, short enough for every model, unique, and mapped back.
/**
 * Characters of a prefixed tool name. Models accept this many letters, digits, `_` and `-`. Past it, the client shortens the
 * name, always to the same one.
 */
const maxLength = 64;
const plain = /^[a-zA-Z0-9_-]+$/;
/**
 * Characters of a server's name for `connectAll`. The name of the tool needs the rest. Past it, the client shortens it in
 * names of tools, always to the same one.
 */
const maxServerName = 32;

/**
 * The length of the digest that ends shortened names. A tool whose own name ends like that is renamed too, so that no two names
 * collide.
 */
const digestLength = 16;
const shortened = new RegExp(`-[0-9a-f]{${digestLength}}$`);

/** The parts of a prefixed name. */
export interface PrefixedName {
  readonly server: string;
  /** The name of the tool at its server; undefined if it was shortened, because then only the list of tools has the full name. */
  readonly tool: string | undefined;
}

/** Matches names that could be mistaken for a rewritten one. */
const likeRewritten = new RegExp(`-[0-9a-f]{${digestLength}}(?:_|$)`);

/**
 * The prefix of the tool names of each server: its name, unless models do not accept it, or it begins with the name of another
 * server and `_`: with `a` and `a_b`, the name `a_b_c` could mean two tools. Such a name is rewritten, always to the same one.
 */
export function prefixesOf(servers: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    servers.map((name) => {
      const isPlain = plain.test(name) && name.length <= maxServerName && !likeRewritten.test(name);
      const isOwn = !servers.some((other) => name.startsWith(`${other}_`));
      return [name, isPlain && isOwn ? name : rewritten(name)];
    }),
  );
}

/** A rewritten name has no `_`, so that no other name can be a prefix of it. */
function rewritten(name: string): string {
  const readable = name.replaceAll(/[^a-zA-Z0-9-]/g, "-").slice(0, maxServerName - digestLength - 1);
  return `${readable}-${digestOf(name)}`;
}

/** The name of a tool among the tools of all servers. */
export function toPrefixed(prefix: string, tool: string): string {
  const room = maxLength - prefix.length - 1;
  if (plain.test(tool) && tool.length <= room && !shortened.test(tool)) return `${prefix}_${tool}`;
  const readable = tool.replaceAll(/[^a-zA-Z0-9_-]/g, "-").slice(0, room - digestLength - 1);
  return `${prefix}_${readable}-${digestOf(tool)}`;
}

/** Splits a prefixed name; undefined if it does not begin with a server's prefix. */
export function fromPrefixed(prefixes: ReadonlyMap<string, string>, name: string): PrefixedName | undefined {
  for (const [server, prefix] of prefixes) {
    if (!name.startsWith(`${prefix}_`)) continue;
    const tool = name.slice(prefix.length + 1);
    return { server, tool: shortened.test(tool) ? undefined : tool };
  }
  return undefined;
}

/** 64 bits of FNV-1a. A collision could only confuse the tools of one server, or the servers that the user names. */
function digestOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(digestLength, "0");
}
