// The names of keys and channels in Redis.
import type { ValueKey, ValueKind } from "../engine/engine.ts";

/**
 * All names begin with the prefix. The keys of one tag share a hash tag, so that a cluster keeps them on one server; only the
 * index of a counted kind has one key for all tags.
 */
export class RedisNames {
  readonly #prefix: string;

  constructor(prefix: string) {
    // Braces in the prefix would form a hash tag.
    this.#prefix = prefix.replace(/[{}%]/g, escaped);
  }

  value({ kind, tag }: ValueKey): string {
    return `${this.#prefix}{${encodeTag(tag)}}:${kind}`;
  }

  /** The entries of a log, and the nodes that follow it. */
  log(log: string): [entries: string, followers: string] {
    const tag = `${this.#prefix}{${encodeTag(log)}}`;
    return [`${tag}:log`, `${tag}:followers`];
  }

  /** The tags of all values of a kind. */
  index(kind: ValueKind): string {
    return `${this.#prefix}index:${kind}`;
  }

  /** The channel of a node begins with this, and ends with its id. */
  get nodes(): string {
    return `${this.#prefix}node:`;
  }

  channel(to: string): string {
    return to === "all" ? `${this.#prefix}all` : this.nodes + to;
  }
}

/** A tag in characters without a meaning for Redis; never empty, because Redis ignores an empty hash tag. */
export function encodeTag(tag: string): string {
  return tag === "" ? "%" : tag.replace(/[^\w.-]/g, escaped);
}

export function decodeTag(encoded: string): string {
  if (encoded === "%") return "";
  return encoded.replace(/%([\da-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
