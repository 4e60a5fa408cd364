// The four lists: pages of the catalogue, serialised once per revision and joined.
import { invalidParams } from "../../errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { type JsonObject, withEncoded } from "../../wire/message.ts";
import type { Entry, Registry } from "../catalogue/registry.ts";
import type { Call } from "../call.ts";
import type { Core } from "../core.ts";
import { readCursor, writeCursor } from "../cursors.ts";
import type { ListMethod } from "../options.ts";
import { visibleTo } from "../scopes.ts";
import { cacheFields, stampResult } from "../stamp.ts";
import type { MethodHandler } from "./method.ts";

type AnyRegistry = Registry<object, unknown>;
type Entries = readonly Entry<object, unknown>[];

/** The member of the result that has the list. */
type List = "tools" | "prompts" | "resources" | "resourceTemplates";

const registries: Readonly<Record<List, (core: Core) => AnyRegistry>> = {
  tools: (core) => core.tools,
  prompts: (core) => core.prompts,
  resources: (core) => core.resources,
  resourceTemplates: (core) => core.templates,
};

/** Answers the list whose result has the member `list`. */
export function listHandler(list: List): MethodHandler {
  return {
    run(call) {
      const registry = registries[list](call.core);
      const visible = visibleTo(registry, call.grant, call.core.settings.listsAll);
      const start = startOf(call.params["cursor"], list, registry, visible);
      const pages = pagesOf(visible, call.table);
      let page = pages.get(start);
      if (page === undefined) pages.set(start, (page = makePage({ list, registry, visible, start }, call)));
      return page;
    },
  };
}

/** A change makes a new array of visible entries, and with it the pages made of the old one are forgotten. */
const madePages = new WeakMap<readonly unknown[], Map<Revision, Map<number, JsonObject>>>();

function pagesOf(visible: readonly unknown[], table: Revision): Map<number, JsonObject> {
  let byRevision = madePages.get(visible);
  if (byRevision === undefined) madePages.set(visible, (byRevision = new Map()));
  let pages = byRevision.get(table);
  if (pages === undefined) byRevision.set(table, (pages = new Map()));
  return pages;
}

interface PagePlace {
  readonly list: List;
  readonly registry: AnyRegistry;
  /** What the caller may use. */
  readonly visible: Entries;
  readonly start: number;
}

function makePage({ list, registry, visible, start }: PagePlace, call: Call): JsonObject {
  const { kind, isScoped } = registry;
  const end = start + call.core.settings.pageSize;
  const entries = visible.slice(start, end);
  const published = entries.map((entry) => entry.published(kind, call.table));
  const last = entries.at(-1);
  const rest = end < visible.length && last ? { nextCursor: encodeCursor(list, last.sequence) } : {};
  // Every caller gets this one page: middleware may answer with a changed copy, but must not change the page itself.
  const values = Object.freeze(published.map((item) => item.value));
  const page = stampResult({ [list]: values, ...rest, ...(isScoped && ownCache(call)) }, call);
  const { [list]: _, ...others } = page;
  const tail = JSON.stringify(others).slice(1);
  const items = published.map((item) => item.text).join(",");
  return Object.freeze(withEncoded(page, `{"${list}":[${items}]${tail === "}" ? "" : ","}${tail}`));
}

/** Callers with other scopes see another list: nobody may share this one. */
function ownCache(call: Call): object | undefined {
  const hint = call.core.settings.cache[call.method as ListMethod];
  return call.row.cacheable && cacheFields({ ...hint, scope: "private" });
}

/**
 * A cursor names the list and the place of the last definition that was sent, not an index: definitions may come and go
 * between pages, and another node that registered the same definitions continues at the same place.
 */
function encodeCursor(list: List, sequence: number): string {
  return writeCursor(JSON.stringify([list, sequence]));
}

function startOf(cursor: unknown, list: List, registry: AnyRegistry, visible: Entries): number {
  if (cursor === undefined) return 0;
  const sequence = decodeCursor(cursor, list);
  if (sequence === undefined || sequence > registry.last) throw invalidParams("Invalid cursor");
  return firstAfter(visible, sequence);
}

/** The place a cursor of ours names; undefined for anything that we did not make. */
function decodeCursor(cursor: unknown, list: List): number | undefined {
  const [, named, sequence] = /^\["([A-Za-z]+)",([1-9]\d{0,14})\]$/.exec(readCursor(cursor) ?? "") ?? [];
  return named === list ? Number(sequence) : undefined;
}

/** Entries are in order of their sequence, so that half of them can be left out at each step. */
function firstAfter(visible: Entries, sequence: number): number {
  let low = 0;
  let high = visible.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = visible[middle];
    if (entry !== undefined && entry.sequence > sequence) high = middle;
    else low = middle + 1;
  }
  return low;
}
