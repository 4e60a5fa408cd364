// The four lists: pages of the catalogue, serialised once per revision and cached; and the cursors between pages.
import { invalidParams } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { type JsonObject, withEncoded } from "../../base/wire/message.ts";
import type { Entry, Registry } from "../catalogue/registry.ts";
import type { Call } from "../calls/call.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ListMethod } from "../settings/options.ts";
import type { Settings } from "../settings/settings.ts";
import { visibleTo } from "../catalogue/scopes.ts";
import { cacheFields, stampResult } from "../calls/stamp.ts";
import { type ListedPosition, listFrom, listingTemplates } from "./resources.ts";
import type { MethodHandler } from "../calls/seams.ts";
import { textFromBase64Url, toBase64Url } from "../../base/wire/base64.ts";

type AnyRegistry = Registry<object, unknown>;
type Entries = readonly Entry<object, unknown>[];

/** The member of the result that holds the list. */
type List = "tools" | "prompts" | "resources" | "resourceTemplates";

/** Handles the list method whose result has the member `list`. */
export function listHandler(list: List, catalogue: Catalogue, settings: Settings): MethodHandler {
  const registry: AnyRegistry = catalogue[list === "resourceTemplates" ? "templates" : list];
  return {
    run(call) {
      registry.isListed = true;
      const visible = visibleTo(registry, call.grant, settings.listsAll);
      const position = readCursorOf(list, call.params["cursor"]);
      const isListed = list === "resources" && listingTemplates(catalogue, call).length > 0;
      if (isListed || position.length === 2)
        return withListed({ registry, visible, position }, catalogue, call);
      const start = startOf(position, registry, visible);
      const pages = pagesOf(visible, call.protocol);
      let page = pages.get(start);
      if (page === undefined) {
        page = makePage({ list, registry, visible, start }, call);
        // A client can make up a cursor for every entry; the pages that the server itself names do not overlap.
        if (start % settings.pageSize === 0) pages.set(start, page);
      }
      return page;
    },
  };
}

/** Pages by their array of visible entries: a change creates a new array, so the old pages are dropped. */
const madePages = new WeakMap<readonly unknown[], Map<Revision, Map<number, JsonObject>>>();

function pagesOf(visible: readonly unknown[], revision: Revision): Map<number, JsonObject> {
  let byRevision = madePages.get(visible);
  if (!byRevision) madePages.set(visible, (byRevision = new Map()));
  let pages = byRevision.get(revision);
  if (!pages) byRevision.set(revision, (pages = new Map()));
  return pages;
}

interface PageStart {
  readonly list: List;
  readonly registry: AnyRegistry;
  /** The entries that the caller may use. */
  readonly visible: Entries;
  readonly start: number;
}

function makePage({ list, registry, visible, start }: PageStart, call: Call): JsonObject {
  const { kind, isScoped } = registry;
  const end = start + call.core.settings.pageSize;
  const entries = visible.slice(start, end);
  const published = entries.map((entry) => entry.published(kind, call.protocol));
  const last = entries.at(-1);
  const rest = end < visible.length && last ? { nextCursor: encodeCursor(list, last.sequence) } : {};
  // All callers share this page, so freeze it: middleware may return a changed copy.
  const values = Object.freeze(published.map((item) => item.value));
  const page = stampResult({ [list]: values, ...rest, ...(isScoped && ownCache(call)) }, call);
  const { [list]: _, ...others } = page;
  const tail = JSON.stringify(others).slice(1);
  const items = published.map((item) => item.text).join(",");
  return Object.freeze(withEncoded(page, `{"${list}":[${items}]${tail === "}" ? "" : ","}${tail}`));
}

/** Builds a page with the resources that templates list, for this caller only. */
async function withListed(
  { registry, visible, position }: { registry: AnyRegistry; visible: Entries; position: readonly number[] },
  catalogue: Catalogue,
  call: Call,
): Promise<JsonObject> {
  const { pageSize } = call.core.settings;
  const [first = 0, skipped] = position;
  const start = skipped === undefined ? startOf(position, registry, visible) : visible.length;
  const entries = visible.slice(start, start + pageSize);
  const registered = entries.map((entry) => entry.published(registry.kind, call.protocol).value);
  const last = start + pageSize < visible.length ? entries.at(-1) : undefined;
  const from: ListedPosition = skipped === undefined ? [0, 0] : [first, skipped];
  const listed = last ? undefined : await listFrom(from, pageSize - entries.length, catalogue, call);
  const next = last ? [last.sequence] : listed?.next;
  return {
    resources: [...registered, ...(listed?.resources ?? [])],
    ...(next && { nextCursor: encodeCursor("resources", ...next) }),
    ...ownCache(call),
  };
}

/** A private cache hint, because callers with other scopes see another list. */
function ownCache(call: Call): object | undefined {
  const hint = call.core.settings.cache[call.method as ListMethod];
  return call.row.cacheable && cacheFields({ ...hint, scope: "private" });
}

/**
 * A cursor names the list and the sequence of the last definition sent. An index would break, because definitions come and go
 * between pages; with the sequence, another node with the same definitions can continue. Among the resources of templates, the
 * cursor names the template and the number of its resources already sent.
 */
function encodeCursor(list: List, ...position: readonly number[]): string {
  return writeCursor(JSON.stringify([list, ...position]));
}

function startOf([sequence]: readonly number[], registry: AnyRegistry, visible: Entries): number {
  if (sequence === undefined) return 0;
  if (sequence > registry.last) throw invalidParams("Invalid cursor");
  return firstAfter(visible, sequence);
}

const cursorPattern = /^\["([A-Za-z]+)",([1-9]\d{0,14})(?:,(0|[1-9]\d{0,14}))?\]$/;

/** Reads the position of a cursor, empty without one. Throws for a cursor that this server did not create. */
function readCursorOf(list: List, cursor: unknown): readonly number[] {
  if (cursor === undefined) return [];
  const [, named, first, second] = cursorPattern.exec(readCursor(cursor) ?? "") ?? [];
  if (named !== list || (second !== undefined && list !== "resources")) throw invalidParams("Invalid cursor");
  return second === undefined ? [Number(first)] : [Number(first), Number(second)];
}

/** Binary search: entries are sorted by their sequence. */
function firstAfter(visible: Entries, sequence: number): number {
  let low = 0;
  let high = visible.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = visible[middle];
    if (entry && entry.sequence > sequence) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The server writes shorter cursors, so it rejects longer ones without decoding them. */
const maxLength = 256;

export function writeCursor(place: string): string {
  return toBase64Url(new TextEncoder().encode(place));
}

/** Decodes the position of a cursor; returns undefined if `writeCursor` cannot have written it. */
export function readCursor(cursor: unknown): string | undefined {
  const place =
    typeof cursor === "string" && cursor.length <= maxLength ? textFromBase64Url(cursor) : undefined;
  return place !== undefined && writeCursor(place) === cursor ? place : undefined;
}
