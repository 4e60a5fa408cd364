// Lists what a server offers, page by page: all at once, or one entry after the other.
import { clip, errorCodes } from "../../base/errors.ts";
import { refuseOn } from "../../base/refused-names.ts";
import { sizeOf } from "../../base/wire/size.ts";
import type { ResultCache } from "./result-cache.ts";
import type { ClientCore, CoreRequestOptions } from "../calls/core.ts";
import { beginBudget } from "../channel/channel.ts";
import { ConnectionLost, InvalidResponse, RpcRejection } from "../settings/errors.ts";
import { type Entries, ignore, kinds, type ListKind, maxReports, type Page, readPage } from "./kinds.ts";
import type { KnownTools } from "./known-tools.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** The cursor is no longer valid: the server refused it (`cause`), or its session has ended. */
class CursorLost extends Error {}

/** A page, and about how many bytes it takes. */
interface SizedPage<Kind extends ListKind> extends Page<Kind> {
  readonly size: number;
}

/** One page of a list, under the name of the list. Its entries are frozen. */
export type ListPage<Kind extends ListKind> = { readonly [Name in Kind]: Entries[Name][] } & {
  /** Leads to the next page; missing on the last one. `""` is a cursor too. */
  readonly nextCursor?: string;
};

/** Lists tools, prompts, resources and resource templates. */
export class Lists {
  readonly #core: ClientCore;
  readonly #cache: ResultCache;
  readonly #known: KnownTools;
  /** Aborted when the session ends, and with it all its cursors. */
  #session = new AbortController();

  constructor(core: ClientCore, cache: ResultCache, known: KnownTools) {
    this.#core = core;
    this.#cache = cache;
    this.#known = known;
    core.onReopened(() => {
      this.#session.abort(new CursorLost());
      this.#session = new AbortController();
    });
  }

  /** All entries, in the order of the server. It starts again once if a cursor becomes invalid. */
  async all<Kind extends ListKind>(kind: Kind, options?: CallOptions): Promise<Entries[Kind][]> {
    const budget = beginBudget();
    try {
      return await this.#collect(kind, { ...options, budget });
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error;
    }
    try {
      return await this.#collect(kind, { ...options, budget });
    } catch (error) {
      throw reasonOf(error, kind);
    }
  }

  /** The entries one after the other; the next page is requested when it is needed. */
  each<Kind extends ListKind>(kind: Kind, options?: CallOptions): AsyncGenerator<Entries[Kind], void, void> {
    const { each } = kinds[kind];
    return refuseOn(this.#each(kind, options), `What client.${each}() returns`, {
      "length map filter find forEach": `for await (const one of client.${each}()), or await client.${each.replace("each", "list")}s()`,
    });
  }

  async *#each<Kind extends ListKind>(
    kind: Kind,
    options?: CallOptions,
  ): AsyncGenerator<Entries[Kind], void, void> {
    try {
      for await (const { entries } of this.#pages(kind, options)) for (const entry of entries) yield entry;
    } catch (error) {
      throw reasonOf(error, kind);
    }
  }

  /** One page: the first one, or the one of the cursor. */
  async page<Kind extends ListKind>(
    kind: Kind,
    cursor: string | undefined,
    options: CallOptions,
  ): Promise<ListPage<Kind>> {
    if (!Object.hasOwn(kinds, kind)) throw noList(kind);
    const { signal: session } = this.#session;
    let since = this.#known.moment;
    const onSent = (): void => void (since = this.#known.moment);
    try {
      const { entries, next } = await this.#page(kind, cursor, { session, onSent }, options);
      if (kind === "tools") this.#known.learn(entries as readonly Entries["tools"][], since);
      const page = { [kind]: entries, ...(next !== undefined && { nextCursor: next }) };
      return page as unknown as ListPage<Kind>;
    } catch (error) {
      throw reasonOf(error, kind);
    }
  }

  /** Requests all pages of the list of tools, as long as there is room to remember their definitions. */
  async learnTools(options: CoreRequestOptions): Promise<void> {
    for await (const _ of this.#pages("tools", options)) if (this.#known.isFull) return;
  }

  async #collect<Kind extends ListKind>(kind: Kind, options: CoreRequestOptions): Promise<Entries[Kind][]> {
    const { maxListItems, maxListBytes } = this.#core.limits;
    const collected: Entries[Kind][] = [];
    let bytes = 0;
    for await (const { entries, size } of this.#pages(kind, options)) {
      bytes += size;
      if (collected.length + entries.length > maxListItems) throw tooMany(kind, "maxListItems", maxListItems);
      if (bytes > maxListBytes) throw tooMany(kind, "maxListBytes", maxListBytes);
      for (const entry of entries) collected.push(entry);
    }
    const all = kinds[kind].each.replace("each", "list");
    return refuseOn(collected, `The list of ${all}s()`, {
      [kind]: `the list itself: const ${kind} = await client.${all}s()`,
      nextCursor: `client.page("${kind}"), which has one; the list has all pages`,
    });
  }

  async *#pages<Kind extends ListKind>(
    kind: Kind,
    options: CoreRequestOptions | undefined,
  ): AsyncGenerator<SizedPage<Kind>, void, void> {
    const { method } = kinds[kind];
    const { maxPages } = this.#core.limits;
    const { signal: session } = this.#session;
    const isFirst = this.#firstOnes(kind);
    let cursor: string | undefined;
    let earlier: string | undefined;
    for (let count = 1; count <= maxPages; count++) {
      let since = this.#known.moment;
      const onSent = (): void => void (since = this.#known.moment);
      const page = await this.#page(kind, cursor, { session, onSent }, options);
      const entries = page.entries.filter(isFirst);
      if (kind === "tools") this.#known.learn(entries as readonly Entries["tools"][], since);
      yield { ...page, entries };
      const { next } = page;
      if (next === undefined) return;
      if (next === cursor || next === earlier)
        throw new InvalidResponse(`${method}: the cursor ${JSON.stringify(clip(next))} repeats`);
      // Comparing with one earlier cursor, replaced at ever longer intervals, finds a circle of any length without storing all
      // cursors.
      if ((count & (count - 1)) === 0) earlier = next;
      cursor = next;
    }
    throw tooMany(kind, "maxPages", maxPages);
  }

  async #page<Kind extends ListKind>(
    kind: Kind,
    cursor: string | undefined,
    { session, onSent }: { readonly session: AbortSignal; readonly onSent: () => void },
    { budget, ...options }: CoreRequestOptions = {},
  ): Promise<SizedPage<Kind>> {
    const { method } = kinds[kind];
    const read = (result: object): Page<Kind> => readPage(kind, result as never, this.#core);
    if (cursor === undefined) return sized(await this.#cache.get({ method, read, onSent, budget }, options));
    session.throwIfAborted();
    try {
      const lookup = { method, params: { cursor }, read, until: session, onSent, budget };
      return sized(await this.#cache.get(lookup, options));
    } catch (error) {
      if (!(error instanceof RpcRejection) || error.code !== errorCodes.invalidParams) throw error;
      this.#cache.discard(method);
      throw new CursorLost(error.message, { cause: error });
    }
  }

  /** Returns a filter that drops and reports entries with a repeated name, up to the limits of a list. */
  #firstOnes(kind: ListKind): (entry: object) => boolean {
    const { method, key, isName } = kinds[kind];
    if (!isName) return () => true;
    const { maxListItems, maxListBytes } = this.#core.limits;
    /** By name, whether a repetition was reported. */
    const names = new Map<string, boolean>();
    let bytes = 0;
    let reports = 0;
    return (entry) => {
      const name = (entry as { readonly [key: string]: string })[key]!;
      if (!names.has(name)) {
        bytes += sizeOf(name);
        if (names.size < maxListItems && bytes <= maxListBytes) names.set(name, false);
        return true;
      }
      if (names.get(name) === false && reports++ < maxReports) {
        names.set(name, true);
        ignore(
          this.#core,
          `${method}: ${JSON.stringify(clip(name))} is listed more than once; the first one counts`,
        );
      }
      return false;
    };
  }
}

function sized<Kind extends ListKind>({
  value,
  size,
}: {
  readonly value: Page<Kind>;
  readonly size: number;
}): SizedPage<Kind> {
  return { ...value, size };
}

function noList(kind: unknown): RangeError {
  const names = Object.keys(kinds).map((name) => `"${name}"`);
  return new RangeError(`page: there is no list ${JSON.stringify(kind)}: choose from ${names.join(", ")}`);
}

function tooMany(kind: ListKind, limit: string, most: number): InvalidResponse {
  const { method, each } = kinds[kind];
  const remedy = limit === "maxPages" ? "raise it" : `iterate with ${each}, or raise it`;
  return new InvalidResponse(`${method}: the list exceeds limits.${limit} (${most}): ${remedy}`);
}

/** The error that the caller receives for a failed listing. */
function reasonOf(error: unknown, kind: ListKind): unknown {
  if (!(error instanceof CursorLost)) return error;
  const problem = `${kinds[kind].method}: the session ended before the last page: list again`;
  return error.cause ?? new ConnectionLost("session-gone", problem, { mayHaveRun: false });
}
