// Try it: an ordinary client of the endpoint, with the catalogue, forms, results, and the messages on the wire.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAbout } from "../base/about.ts";
import { Empty } from "../components/empty.tsx";
import { CatalogueList } from "./catalogue-list.tsx";
import { catalogue } from "./catalogue.ts";
import { changes } from "./changes.ts";
import { ChangesView } from "./changes-view.tsx";
import { ConnectionBar } from "./connection-bar.tsx";
import { connection } from "./connection.ts";
import { type Entry, type Kind, keyOf, kinds, unlisted } from "./entries.ts";
import { EntryView } from "./entry-view.tsx";
import { QuestionDialog } from "./question-dialog.tsx";
import { WireView } from "./wire-view.tsx";

const tabs = { catalogue: "Catalogue", call: "Call", messages: "Messages", changes: "Changes" } as const;
type Tab = keyof typeof tabs;

interface TryItProps {
  /** What stands behind the path in the address: what is tried, and its kind unless it is a tool. */
  readonly rest: readonly string[];
}

/** The panes of the view: a narrow page shows one at a time, a wide page shows all. */
type Pane = "catalogue" | "call" | "side";

export function TryIt({ rest }: TryItProps): VNode {
  const { endpoint } = useAbout();
  if (endpoint === undefined)
    return (
      <Empty title="The address of the endpoint is not known">
        <p>
          Pass it to the dashboard: <code>{'dashboard({ endpoint: "https://…/mcp" })'}</code>
        </p>
      </Empty>
    );
  return <Bench endpoint={endpoint} rest={rest} />;
}

function Bench({ endpoint, rest }: TryItProps & { readonly endpoint: string }): VNode {
  const { id, kind } = chosenOf(rest);
  const [pane, setPane] = useState<Pane>(id === undefined ? "catalogue" : "call");
  const [side, setSide] = useState<"messages" | "changes">("messages");
  const open = (tab: Tab): void => {
    if (tab === "catalogue" || tab === "call") return setPane(tab);
    setSide(tab);
    setPane("side");
  };
  const { entries, readAt } = catalogue.use();
  useEffect(() => {
    if (id !== undefined) setPane("call");
  }, [id, kind]);
  const entry = id === undefined ? undefined : entryOf(entries, id, kind);
  return (
    <div class={`try shows-${pane}`}>
      <ConnectionBar endpoint={endpoint} />
      <Tabs
        tabs={["catalogue", "call", "messages", "changes"]}
        open={pane === "side" ? side : pane}
        onOpen={open}
        class="narrow-only"
      />
      <section class="pane of-catalogue" aria-label="Catalogue">
        <CatalogueList open={entry && keyOf(entry)} />
      </section>
      <section class="pane of-call" aria-label="Call">
        {entry ? (
          <EntryView key={keyOf(entry)} entry={entry} />
        ) : (
          <Nothing id={id} kind={kind} isRead={readAt !== undefined} />
        )}
      </section>
      <section class="pane of-side" aria-label="Messages and changes">
        <Tabs tabs={["messages", "changes"]} open={side} onOpen={open} class="wide-only" />
        {side === "changes" ? <ChangesView /> : <WireView />}
      </section>
      <QuestionDialog />
    </div>
  );
}

function chosenOf(rest: readonly string[]): { readonly id: string | undefined; readonly kind: Kind } {
  const [id, named] = rest;
  return { id: id === "" ? undefined : id, kind: kinds.find((known) => known === named) ?? "tool" };
}

function entryOf(entries: readonly Entry[], id: string, kind: Kind): Entry | undefined {
  const listed = entries.find((entry) => entry.id === id && entry.kind === kind);
  return listed ?? (kind === "resource" ? unlisted(id) : undefined);
}

function Nothing(props: {
  readonly id: string | undefined;
  readonly kind: Kind;
  readonly isRead: boolean;
}): VNode {
  const { id, kind, isRead } = props;
  const { phase } = connection.use();
  if (phase === "none") return <Empty title="Connect to see what the server offers" />;
  if (!isRead) return <Empty title="Reading what the server offers…" />;
  if (id === undefined) return <Empty title="Choose a tool, a prompt or a resource" />;
  return (
    <Empty title={`The server has no ${kind} "${id}"`}>
      <p>It may be offered to another revision, or to callers with other credentials.</p>
    </Empty>
  );
}

function Tabs(props: {
  readonly tabs: readonly Tab[];
  readonly open: Tab;
  readonly onOpen: (tab: Tab) => void;
  readonly class: string;
}): VNode {
  const count = changes.use().length;
  return (
    <div role="tablist" class={`tabs ${props.class}`}>
      {props.tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          aria-selected={tab === props.open}
          onClick={() => props.onOpen(tab)}
        >
          {tabs[tab]}
          {tab === "changes" && count > 0 && <span class="badge accent">{count}</span>}
        </button>
      ))}
    </div>
  );
}
