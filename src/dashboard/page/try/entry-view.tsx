// One entry of the catalogue: its form, the buttons that send it, and its last run.
import type { McpClient } from "halyard/client";
import type { VNode } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { useAbout } from "../base/about.ts";
import { storeOf } from "../base/store.ts";
import { Badge } from "../components/badge.tsx";
import { subscriptions, toggleSubscription } from "./changes.ts";
import { CodeDialog } from "./code-dialog.tsx";
import { type Connection, connection } from "./connection.ts";
import { type Draft, draftOf, draftOfValue, jsonDraft, readDraft } from "./drafts.ts";
import { type Entry, type Kind, keyOf, uriOf } from "./entries.ts";
import { focusProblem } from "./focus.ts";
import type { FormState } from "./field-notes.tsx";
import { Form } from "./form.tsx";
import { RunView } from "./run-view.tsx";
import { runs, start } from "./runs.ts";

/** What was filled in for each entry, for as long as the page is open. */
const drafts = storeOf<ReadonlyMap<string, Draft>>(new Map());

const verbs: Readonly<Record<Kind, string>> = {
  tool: "Call",
  prompt: "Get prompt",
  resource: "Read",
  template: "Read",
};

export function EntryView({ entry }: { readonly entry: Entry }): VNode {
  const now = connection.use();
  const run = runs.use().get(keyOf(entry));
  const [isChecked, setChecked] = useState(false);
  const [isCodeOpen, openCode] = useState(false);
  const [draft, setDraft] = useDraft(entry);
  const { value, problems } = useMemo(() => readDraft(entry.form, draft), [entry, draft]);
  const values = (value ?? {}) as Record<string, unknown>;
  const uri = uriOf(entry, values);
  const client = now.phase === "open" ? now.client : undefined;
  const isRunning = run !== undefined && run.outcome === undefined;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (problems.size > 0) return focusProblem(event.currentTarget as HTMLFormElement);
    if (client && !isRunning) void start(client, entry, { values, uri });
  };
  return (
    <>
      <Heading entry={entry} />
      <form class="call" noValidate aria-label={entry.title} onSubmit={submit}>
        <Form
          id="call"
          field={entry.form}
          draft={draft}
          problems={problems}
          isChecked={isChecked}
          complete={useCompletion(entry, client, values)}
          onChange={setDraft}
        />
        <div class="actions">
          <button type="submit" class="primary" disabled={!client || isRunning}>
            {verbs[entry.kind]}
          </button>
          {client && uri !== undefined && <SubscribeButton client={client} uri={uri} />}
          <JsonSwitch entry={entry} draft={draft} values={value} onChange={setDraft} />
          <button type="button" disabled={problems.size > 0} onClick={() => openCode(true)}>
            Copy as code
          </button>
        </div>
      </form>
      {run && <RunView run={run} />}
      {isCodeOpen && (
        <Code now={now} entry={entry} values={value} uri={uri} onClose={() => openCode(false)} />
      )}
    </>
  );
}

function Heading({ entry: { id, title, description, marks } }: { readonly entry: Entry }): VNode {
  return (
    <header class="entry">
      <h2>{title}</h2>
      <p>
        {title !== id && <code class="muted">{id}</code>}{" "}
        {marks.map((mark) => (
          <Badge key={mark} tone={mark === "destructive" ? "warn" : "plain"}>
            {mark}
          </Badge>
        ))}
      </p>
      {description !== undefined && <p class="description">{description}</p>}
    </header>
  );
}

/** The draft of an entry. When the server changes its schema, the form starts again. */
function useDraft(entry: Entry): [Draft, (draft: Draft) => void] {
  const all = drafts.use();
  const key = useMemo(() => `${keyOf(entry)} ${JSON.stringify(entry.listed)}`, [entry]);
  const draft = useMemo(() => all.get(key) ?? draftOf(entry.form), [all, key]);
  return [draft, (changed) => drafts.set(new Map([...drafts.get(), [key, changed]]))];
}

/** Requests completions for an argument of a prompt, or a variable of a template. */
function useCompletion(
  { kind, id }: Entry,
  client: McpClient | undefined,
  values: Readonly<Record<string, unknown>>,
): FormState["complete"] {
  const context = JSON.stringify(values);
  const complete = useCallback(
    async (name: string, typed: string) => {
      const ref =
        kind === "prompt"
          ? ({ type: "ref/prompt", name: id } as const)
          : ({ type: "ref/resource", uri: id } as const);
      const { [name]: _typed, ...others } = JSON.parse(context) as Record<string, string>;
      const answer = await client?.complete(ref, { name, value: typed }, { context: others });
      return answer?.completion.values ?? [];
    },
    [client, kind, id, context],
  );
  const isCompleted = kind === "prompt" || kind === "template";
  return isCompleted && client?.capabilities.completions ? complete : undefined;
}

function SubscribeButton({
  client,
  uri,
}: {
  readonly client: McpClient;
  readonly uri: string;
}): VNode | null {
  const { uris } = subscriptions.use();
  if (!client.capabilities.resources?.subscribe) return null;
  const isOn = uris.includes(uri);
  return (
    <button type="button" aria-pressed={isOn} onClick={() => void toggleSubscription(client, uri)}>
      {isOn ? "Unsubscribe" : "Subscribe"}
    </button>
  );
}

/** Edits all arguments as JSON, or returns to the form if it can show them. */
function JsonSwitch(props: {
  readonly entry: Entry;
  readonly draft: Draft;
  readonly values: unknown;
  readonly onChange: (draft: Draft) => void;
}): VNode | null {
  const { entry, draft, values, onChange } = props;
  const { form } = entry;
  if (entry.kind !== "tool" || form.shape.kind !== "group" || form.shape.members().length === 0) return null;
  const isJson = draft.kind === "json";
  const isShown = isJson && draftOfValue(form, values ?? {}).kind === "group";
  return (
    <button
      type="button"
      aria-pressed={isJson}
      disabled={isJson && !isShown}
      title={isJson && !isShown ? "The form cannot show this value" : undefined}
      onClick={() => onChange(isJson ? draftOfValue(form, values ?? {}) : jsonDraft(values ?? {}))}
    >
      {isJson ? "Edit as form" : "Edit as JSON"}
    </button>
  );
}

function Code(props: {
  readonly now: Connection;
  readonly entry: Entry;
  readonly values: unknown;
  readonly uri: string | undefined;
  readonly onClose: () => void;
}): VNode {
  const { now, entry, values, uri, onClose } = props;
  const { endpoint = "", revisions, newest } = useAbout();
  const wanted = now.phase === "none" ? undefined : now.wanted;
  const revision = wanted?.revision ?? revisions[0] ?? "auto";
  const isModern = newest.modern !== undefined && revision > (newest.legacy ?? "");
  return (
    <CodeDialog
      action={{ entry, values, uri }}
      target={{ endpoint, revision, hasToken: wanted !== undefined && wanted.token !== "" }}
      isModern={isModern}
      onClose={onClose}
    />
  );
}
