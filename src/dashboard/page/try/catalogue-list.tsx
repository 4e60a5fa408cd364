// The catalogue: everything that the server offers, in one list that can be searched.
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { useKeys } from "../base/keyboard.ts";
import { hrefOf } from "../base/router.ts";
import { Empty } from "../components/empty.tsx";
import { Search } from "../components/search.tsx";
import { catalogue } from "./catalogue.ts";
import { type Entry, found, type Kind, keyOf, kinds } from "./entries.ts";
import { TroubleView } from "./trouble-view.tsx";

/** Entries of a kind beyond this number are found by searching. */
const maxListed = 300;

const titles: Readonly<Record<Kind, string>> = {
  tool: "Tools",
  prompt: "Prompts",
  resource: "Resources",
  template: "Resource templates",
};

function hrefOfEntry({ kind, id }: Pick<Entry, "kind" | "id">): string {
  return kind === "tool" ? hrefOf("try", id) : hrefOf("try", id, kind);
}

export function CatalogueList({ open }: { readonly open: string | undefined }): VNode {
  const { entries, readAt, troubles, isLive } = catalogue.use();
  const [search, setSearch] = useState("");
  const list = useRef<HTMLElement>(null);
  useKeys(walking(() => list.current));
  const shown = found(entries, search);
  return (
    <>
      <Search label="Search the catalogue" value={search} onChange={setSearch} />
      {troubles.map((trouble) => (
        <TroubleView key={trouble.message} trouble={trouble} />
      ))}
      <nav class="entries" aria-label="Catalogue" ref={list}>
        {kinds.map((kind) => (
          <Group key={kind} kind={kind} entries={shown.filter((entry) => entry.kind === kind)} open={open} />
        ))}
        {readAt !== undefined && shown.length === 0 && (
          <Empty title={search === "" ? "The server offers nothing" : "Nothing found"}>
            {search !== "" && (
              <button type="button" onClick={() => setSearch("")}>
                Show all
              </button>
            )}
          </Empty>
        )}
      </nav>
      {readAt !== undefined && (
        <p class="hint" aria-live="polite">
          {entries.length} in all. {isLive ? "Refreshes by itself." : "The server does not announce changes."}
        </p>
      )}
    </>
  );
}

function Group(props: {
  readonly kind: Kind;
  readonly entries: readonly Entry[];
  readonly open: string | undefined;
}): VNode | null {
  const { kind, entries, open } = props;
  if (entries.length === 0) return null;
  return (
    <>
      <h2>
        {titles[kind]} <span class="muted figure">{entries.length}</span>
      </h2>
      <ul>
        {entries.slice(0, maxListed).map((entry) => (
          <li key={entry.id}>
            <a
              href={hrefOfEntry(entry)}
              title={entry.description}
              aria-current={keyOf(entry) === open ? "page" : undefined}
            >
              <span>{entry.title}</span>
              {entry.title !== entry.id && <code>{entry.id}</code>}
            </a>
          </li>
        ))}
      </ul>
      {entries.length > maxListed && (
        <p class="hint">Search to see the other {entries.length - maxListed}.</p>
      )}
    </>
  );
}

function walking(list: () => HTMLElement | null): Parameters<typeof useKeys>[0] {
  const move = (by: number) => (): boolean => {
    const links = [...(list()?.querySelectorAll<HTMLElement>("a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = links[at === -1 ? (by > 0 ? 0 : links.length - 1) : at + by];
    next?.focus();
    return next !== undefined;
  };
  return [
    { keys: "j", what: "Next of the catalogue", run: move(1) },
    { keys: "k", what: "One before in the catalogue", run: move(-1) },
  ];
}
