// A form made from fields: each shows its rules, and what is wrong with what was filled in.
import type { VNode } from "preact";
import { Control } from "./control.tsx";
import { absent, addedDraft, type Draft, draftOf, jsonDraft, pathOf } from "./drafts.ts";
import { type FieldProps, FormContext, type FormState, type PartProps, useNotes } from "./field-notes.tsx";
import { type Field, labelOf } from "./fields.ts";

export interface FormProps extends FormState {
  readonly field: Field;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** The fields of a whole form, or one for JSON. */
export function Form({ field, draft, onChange, ...context }: FormProps): VNode {
  return (
    <FormContext.Provider value={context}>
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
    </FormContext.Provider>
  );
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
    return <Boxes options={shape.options.map(labelOf)} chosen={draft.indexes} onChange={onChange} />;
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
