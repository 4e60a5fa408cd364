// The control of a field that is not made of others: a text, a number, a choice, a box, or JSON.
import type { VNode } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { absent } from "./drafts.ts";
import { type Attributes, type FieldProps, FormContext, type FormState } from "./field-notes.tsx";
import { labelOf, type Shape } from "./fields.ts";
import { exampleOf } from "./rules.ts";
import { textOf } from "./schema.ts";

type ControlProps = FieldProps & { readonly attributes: Attributes };

export function Control(props: ControlProps): VNode {
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
  return shape.kind === "choice" ? shape.options.map(labelOf) : [];
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
  const { complete } = useContext(FormContext);
  const text = draft.kind === "text" ? draft.text : "";
  const change = (value: string): void => onChange({ kind: "text", text: value });
  const format = shape.kind === "text" ? textOf(shape.rules["format"]) : undefined;
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

/** The server's completions for a text, requested when typing pauses. */
function useCompletions(name: string, typed: string, complete: FormState["complete"]): readonly string[] {
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
