// A form made from fields: each shows its rules, and what is wrong with what was filled in.
import { createContext, type VNode } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { absent, addedDraft, type Draft, draftOf, jsonDraft, pathOf } from "./drafts.ts";
import type { Field, Shape } from "./fields.ts";
import { exampleOf, limitsOf } from "./rules.ts";

/** What every field of a form shares. */
export interface FormContext {
  /** Begins the ids of the fields. */
  readonly id: string;
  readonly problems: ReadonlyMap<string, string>;
  /** Whether somebody tried to send the form, so that empty fields are marked too. */
  readonly isChecked: boolean;
  /** Offers values for a text, if the server completes it. */
  readonly complete?: ((name: string, typed: string) => Promise<readonly string[]>) | undefined;
}

const Context = createContext<FormContext>({ id: "", problems: new Map(), isChecked: false });

export interface FormProps extends FormContext {
  readonly field: Field;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** The fields of a whole form, or one for JSON. */
export function Form({ field, draft, onChange, ...context }: FormProps): VNode {
  return (
    <Context.Provider value={context}>
      {draft.kind === "group" && field.shape.kind === "group" ? (
        <Members members={field.shape.members()} drafts={draft.members} path="" onChange={onChange} />
      ) : (
        <FieldView
          field={{ ...field, label: field.label || "Arguments as JSON" }}
          draft={draft}
          path=""
          onChange={onChange}
        />
      )}
    </Context.Provider>
  );
}

interface PartProps {
  readonly path: string;
  readonly onChange: (draft: Draft) => void;
}

interface FieldProps extends PartProps {
  readonly field: Field;
  readonly draft: Draft;
}

function Members({
  members,
  drafts,
  path,
  onChange,
}: PartProps & { readonly members: readonly Field[]; readonly drafts: readonly Draft[] }): VNode {
  return (
    <>
      {members.map((member, index) => (
        <FieldView
          key={member.name}
          field={member}
          draft={drafts[index] ?? absent}
          path={pathOf(path, member.name)}
          onChange={(draft) => onChange({ kind: "group", members: drafts.with(index, draft) })}
        />
      ))}
    </>
  );
}

/** Composite fields and lists of boxes stand in a frame, the others beside their label. */
function FieldView(props: FieldProps): VNode | null {
  const { field, draft } = props;
  const { shape } = field;
  if (shape.kind === "constant" && field.isRequired) return <Constant {...props} />;
  const isFramed =
    draft.kind !== "json" &&
    (shape.kind === "group" ||
      shape.kind === "list" ||
      shape.kind === "variants" ||
      shape.kind === "choices");
  return isFramed ? <Framed {...props} /> : <Single {...props} />;
}

function Constant({ field }: FieldProps): VNode {
  const value = field.shape.kind === "constant" ? field.shape.value : undefined;
  return (
    <p class="field constant">
      <span>{field.label || "Value"}</span> <code>{JSON.stringify(value)}</code>
    </p>
  );
}

/** What names, explains and rejects a field, with the ids that tie them to its control. */
function useNotes({ field, draft, path }: FieldProps) {
  const { id: form, problems, isChecked } = useContext(Context);
  const id = `${form}${path}`;
  const problem = isChecked || !isEmpty(draft) ? problems.get(path) : undefined;
  const hint = [field.description, limitsOf(field.shape)].filter(Boolean).join(" · ");
  const reason = field.shape.kind === "json" ? field.shape.reason : undefined;
  const notes = (
    <>
      {(hint !== "" || reason !== undefined) && (
        <p class="hint" id={`${id}:hint`}>
          {hint} {reason}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}:problem`}>
          {problem}
        </p>
      )}
    </>
  );
  const attributes = {
    id,
    "aria-required": field.isRequired,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}:hint ${id}:problem`,
  };
  return { id, notes, attributes };
}

function Mark({ field }: { readonly field: Field }): VNode {
  return (
    <>
      {field.isRequired && (
        <span class="required" aria-hidden="true" title="Required">
          {" *"}
        </span>
      )}
      {field.name !== "" && field.label !== field.name && <code class="muted"> {field.name}</code>}
    </>
  );
}

function Single(props: FieldProps): VNode {
  const { field } = props;
  const { id, notes, attributes } = useNotes(props);
  return (
    <div class="field">
      <div class="field-name">
        <label for={id}>{field.label || "Value"}</label>
        <Mark field={field} />
      </div>
      <Control {...props} attributes={attributes} />
      {notes}
    </div>
  );
}

type Attributes = ReturnType<typeof useNotes>["attributes"];
type ControlProps = FieldProps & { readonly attributes: Attributes };

function Control(props: ControlProps): VNode {
  const { field, draft, onChange, attributes } = props;
  const { shape } = field;
  if (draft.kind === "json") {
    return (
      <textarea
        {...attributes}
        class="json"
        rows={field.name === "" ? 8 : 3}
        spellcheck={false}
        value={draft.text}
        onInput={({ currentTarget }) => onChange({ kind: "json", text: currentTarget.value })}
      />
    );
  }
  if (shape.kind === "text" || shape.kind === "number") return <TextControl {...props} />;
  if (shape.kind === "flag" && (field.isRequired || field.standard !== undefined)) {
    return (
      <input
        {...attributes}
        type="checkbox"
        checked={draft.kind === "flag" && draft.isOn}
        onChange={({ currentTarget }) => onChange({ kind: "flag", isOn: currentTarget.checked })}
      />
    );
  }
  return <ChoiceControl {...props} />;
}

/** One of several values, or none. */
function ChoiceControl({ field, draft, onChange, attributes }: ControlProps): VNode {
  const { shape } = field;
  const isFlag = shape.kind === "flag";
  const labels = isFlag ? ["false", "true"] : labelsOf(shape);
  const chosen = draft.kind === "flag" ? Number(draft.isOn) : draft.kind === "choice" ? draft.index : "";
  const choose = (value: string): void => {
    if (value === "") onChange(absent);
    else onChange(isFlag ? { kind: "flag", isOn: value === "1" } : { kind: "choice", index: Number(value) });
  };
  return (
    <select {...attributes} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      <option value="">{field.isRequired ? "Choose…" : "Not set"}</option>
      {labels.map((label, index) => (
        <option key={index} value={index}>
          {label}
        </option>
      ))}
    </select>
  );
}

function labelsOf(shape: Shape): readonly string[] {
  if (shape.kind === "constant") return [JSON.stringify(shape.value)];
  return shape.kind === "choice" ? shape.options.map(({ label }) => label) : [];
}

/** How browsers help with a format. Dates and times stay texts: their fields would drop the time zone. */
const inputTypes: Readonly<Record<string, string>> = {
  email: "email",
  uri: "url",
  date: "date",
  password: "password",
};

function TextControl({ field, draft, onChange, attributes }: ControlProps): VNode {
  const { shape } = field;
  const { complete } = useContext(Context);
  const text = draft.kind === "text" ? draft.text : "";
  const change = (value: string): void => onChange({ kind: "text", text: value });
  const format = shape.kind === "text" ? shape.format : undefined;
  const offered = useCompletions(field.name, text, shape.kind === "text" ? complete : undefined);
  if (shape.kind === "text" && shape.isLong && !complete) {
    return (
      <textarea
        {...attributes}
        rows={1}
        title="Shift+Enter begins a new line"
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={sendOnEnter}
      />
    );
  }
  const list = `${attributes.id}:list`;
  return (
    <>
      <input
        {...attributes}
        type={(format && Object.hasOwn(inputTypes, format) && inputTypes[format]) || "text"}
        inputMode={shape.kind === "number" ? "decimal" : undefined}
        placeholder={exampleOf(format)}
        autocomplete="off"
        spellcheck={false}
        list={complete && list}
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      {complete && (
        <datalist id={list}>
          {offered.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Enter sends the form, as in a field of one line. */
function sendOnEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

const pauseMs = 150;

/** What the server offers for a text, asked once typing pauses. */
function useCompletions(name: string, typed: string, complete: FormContext["complete"]): readonly string[] {
  const [offered, setOffered] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!complete) return undefined;
    let isOver = false;
    const timer = setTimeout(
      () =>
        void complete(name, typed).then(
          (values) => isOver || setOffered(values),
          () => {},
        ),
      pauseMs,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [name, typed, complete]);
  return offered;
}

function Framed(props: FieldProps): VNode {
  const { field, draft, onChange } = props;
  const { notes, attributes } = useNotes(props);
  const label = field.label || "Item";
  return (
    <fieldset class="field" id={attributes.id} aria-describedby={attributes["aria-describedby"]}>
      <legend>
        {label}
        <Mark field={field} />
      </legend>
      {notes}
      {draft.kind === "absent" ? (
        <button type="button" onClick={() => onChange(addedDraft(field))}>
          Add {label}
        </button>
      ) : (
        <Inner {...props} />
      )}
      {draft.kind !== "absent" && draft.kind !== "choices" && !field.isRequired && (
        <button type="button" class="quiet" onClick={() => onChange(absent)}>
          Leave out {label}
        </button>
      )}
    </fieldset>
  );
}

function Inner({ field, draft, path, onChange }: FieldProps): VNode | null {
  const { shape } = field;
  if (shape.kind === "choices" && draft.kind === "choices")
    return (
      <Boxes options={shape.options.map(({ label }) => label)} chosen={draft.indexes} onChange={onChange} />
    );
  if (shape.kind === "group" && draft.kind === "group")
    return <Members members={shape.members()} drafts={draft.members} path={path} onChange={onChange} />;
  if (shape.kind === "list" && draft.kind === "list")
    return <List item={shape.item()} drafts={draft.items} path={path} onChange={onChange} />;
  if (shape.kind === "variants" && draft.kind === "variant")
    return (
      <Variants
        name={field.label}
        variants={shape.variants()}
        draft={draft}
        path={path}
        onChange={onChange}
      />
    );
  return null;
}

function Boxes(props: {
  readonly options: readonly string[];
  readonly chosen: readonly number[];
  readonly onChange: (draft: Draft) => void;
}): VNode {
  const { options, chosen, onChange } = props;
  const toggle = (index: number): void => {
    const indexes = [...options.keys()].filter((other) => chosen.includes(other) !== (other === index));
    onChange({ kind: "choices", indexes });
  };
  return (
    <div class="boxes">
      {options.map((label, index) => (
        <label key={index}>
          <input type="checkbox" checked={chosen.includes(index)} onChange={() => toggle(index)} /> {label}
        </label>
      ))}
    </div>
  );
}

function List(props: PartProps & { readonly item: Field; readonly drafts: readonly Draft[] }): VNode {
  const { item, drafts, path, onChange } = props;
  const change = (items: readonly Draft[]): void => onChange({ kind: "list", items });
  return (
    <>
      {drafts.map((draft, index) => (
        <div class="item" key={index}>
          <FieldView
            field={{ ...item, label: `${item.label || "Item"} ${index + 1}` }}
            draft={draft}
            path={pathOf(path, index)}
            onChange={(changed) => change(drafts.with(index, changed))}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove item ${index + 1}`}
            onClick={() => change(drafts.toSpliced(index, 1))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" onClick={() => change([...drafts, addedDraft(item)])}>
        Add an item
      </button>
    </>
  );
}

function Variants(
  props: PartProps & {
    readonly name: string;
    readonly variants: readonly Field[];
    readonly draft: Draft & { kind: "variant" };
  },
): VNode {
  const { name, variants, draft, path, onChange } = props;
  const variant = variants[draft.index];
  const choose = (index: number): void => {
    const chosen = variants[index];
    onChange({ kind: "variant", index, draft: chosen ? draftOf(chosen) : jsonDraft(undefined) });
  };
  return (
    <>
      {variants.length > 1 && (
        <select
          aria-label={`Kind of ${name || "value"}`}
          value={draft.index}
          onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
        >
          {variants.map(({ label }, index) => (
            <option key={index} value={index}>
              {label}
            </option>
          ))}
        </select>
      )}
      {variant?.shape.kind === "group" && draft.draft.kind === "group" ? (
        <Members
          members={variant.shape.members()}
          drafts={draft.draft.members}
          path={pathOf(path, draft.index)}
          onChange={(inner) => onChange({ ...draft, draft: inner })}
        />
      ) : (
        variant &&
        variant.shape.kind !== "constant" && (
          <FieldView
            field={variant}
            draft={draft.draft}
            path={pathOf(path, draft.index)}
            onChange={(inner) => onChange({ ...draft, draft: inner })}
          />
        )
      )}
    </>
  );
}

function isEmpty(draft: Draft): boolean {
  if (draft.kind === "absent") return true;
  if (draft.kind === "text" || draft.kind === "json") return draft.text === "";
  if (draft.kind === "choices") return draft.indexes.length === 0;
  return draft.kind === "list" && draft.items.length === 0;
}
