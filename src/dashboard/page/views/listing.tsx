// A view of rows: a search, the number of rows, and the table. Typing updates the search box only; the table follows when typing
// pauses.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answers, Questions, Rows } from "../../answers.ts";
import { formatCount } from "../base/format.ts";
import { usePolled } from "../base/polling.ts";
import { Empty } from "../components/empty.tsx";
import { Search } from "../components/search.tsx";
import { type Column, Table } from "../components/table.tsx";

/** The questions that are answered with rows. */
type Listed = "calls" | "sessions" | "streams" | "tools" | "topics";
type RowOf<Name extends Listed> = Answers[Name]["rows"][number];

export interface ListingProps<Name extends Listed> {
  readonly name: Name;
  /** The name of the table. */
  readonly label: string;
  /** The noun for one row, and for several. */
  readonly nouns: readonly [one: string, many: string];
  readonly everyMs: number;
  /** What can be searched for. */
  readonly hint: string;
  /** The columns for one node, or for a cluster. */
  readonly columns: (isCluster: boolean) => readonly Column<RowOf<Name>>[];
  readonly keyOf: (row: RowOf<Name>) => string;
  /** Whether rows stand as the server sends them, newest first. */
  readonly isGiven?: boolean;
  /** Rows of a lower rank stand above the others. */
  readonly rankOf?: (row: RowOf<Name>) => number;
  readonly classOf?: (row: RowOf<Name>) => string | undefined;
  readonly onOpen?: (row: RowOf<Name>) => void;
  readonly isOpenable?: (row: RowOf<Name>) => boolean;
  /** Shown beside the number of rows. */
  readonly note?: (rows: readonly RowOf<Name>[]) => ComponentChildren;
  /** Shown if there are no rows and no search. */
  readonly empty: VNode;
}

/** The last search and the last opened row of each view, restored when the user returns to it. */
const searches = new Map<Listed, string>();
const opened = new Map<Listed, string>();

export function Listing<Name extends Listed>(props: ListingProps<Name>): VNode {
  const { name, label, nouns, everyMs, hint, columns, onOpen, note, empty, ...table } = props;
  const [{ search, cleared }, setSearch] = useState({ search: searches.get(name) ?? "", cleared: 0 });
  const { answer, isStale } = usePolled(name, { search } as Questions[Name], everyMs);
  const first = useRef(answer);
  first.current ??= answer;
  const answered = useRef(search);
  if (!isStale) answered.current = search;
  const find = (wanted: string): void => {
    searches.set(name, wanted);
    setSearch((last) => ({ ...last, search: wanted }));
  };
  const open = (row: RowOf<Name>): void => {
    opened.set(name, props.keyOf(row));
    onOpen?.(row);
  };
  const clear = (): void => {
    searches.delete(name);
    setSearch((last) => ({ search: "", cleared: last.cleared + 1 }));
  };
  const { rows, nodes } = (answer ?? nothingYet) as Rows<RowOf<Name>>;
  if (answer !== undefined && rows.length === 0 && answered.current === "") return empty;
  return (
    <div class={`listing ${name}`} aria-busy={answer === undefined}>
      <div class="finding">
        <Finding key={cleared} search={search} hint={hint} onFind={find} />
        {answer && <Found nouns={nouns} shown={rows.length} total={answer.total} />}
        {note?.(rows)}
      </div>
      {answer && (
        <Table
          {...table}
          {...(onOpen && { onOpen: open })}
          focused={answer === first.current ? opened.get(name) : undefined}
          label={label}
          columns={columns(nodes.length > 1)}
          rows={rows}
          standing={{
            question: answered.current,
            isGiven: props.isGiven === true,
            ...(props.rankOf && { rankOf: props.rankOf }),
          }}
          empty={
            <Empty title={`No ${nouns[0]} matches “${answered.current}”`}>
              <button type="button" onClick={clear}>
                Show all
              </button>
            </Empty>
          }
        />
      )}
    </div>
  );
}

const nothingYet = { rows: [], nodes: [], total: 0 };
const typingMs = 150;

interface FindingProps {
  readonly search: string;
  readonly hint: string;
  readonly onFind: (search: string) => void;
}

/** The search, which is sent when typing pauses. The arrow down leads to the rows. */
function Finding({ search, hint, onFind }: FindingProps): VNode {
  const [text, setText] = useState(search);
  useEffect(() => {
    if (text.trim() === search) return undefined;
    const timer = setTimeout(() => onFind(text.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  const leave = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    const view = (event.currentTarget as Element).closest(".listing");
    view?.querySelector<HTMLElement>("tbody tr")?.focus();
    event.preventDefault();
  };
  return (
    <div class="finding-field" onKeyDown={leave}>
      <Search label="Search" hint={hint} value={text} onChange={setText} />
    </div>
  );
}

interface FoundProps {
  readonly nouns: readonly [one: string, many: string];
  readonly shown: number;
  readonly total: number;
}

function Found({ nouns: [one, many], shown, total }: FoundProps): VNode {
  return (
    <span class="found" aria-live="polite">
      {shown < total
        ? `${formatCount(shown)} of ${formatCount(total)} shown: search to narrow`
        : `${formatCount(total)} ${total === 1 ? one : many}`}
    </span>
  );
}
