// What every field of a form has: its place in the form, what explains it, and what is wrong with it.
import { createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";
import type { Draft } from "./drafts.ts";
import type { Field } from "./fields.ts";
import { limitsOf } from "./rules.ts";

/** What every field of a form shares. */
export interface FormState {
  /** Begins the ids of the fields. */
  readonly id: string;
  readonly problems: ReadonlyMap<string, string>;
  /** Whether the user has tried to send the form, so that empty fields are marked too. */
  readonly isChecked: boolean;
  /** Offers values for a text, if the server completes it. */
  readonly complete?: ((name: string, typed: string) => Promise<readonly string[]>) | undefined;
}

export const FormContext = createContext<FormState>({ id: "", problems: new Map(), isChecked: false });

export interface PartProps {
  readonly path: string;
  readonly onChange: (draft: Draft) => void;
}

export interface FieldProps extends PartProps {
  readonly field: Field;
  readonly draft: Draft;
}

/** The label, the notes and the problem of a field, with the ids that tie them to its control. */
export function useNotes({ field, draft, path }: FieldProps): {
  readonly id: string;
  readonly notes: VNode;
  readonly attributes: Attributes;
} {
  const { id: form, problems, isChecked } = useContext(FormContext);
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

/** What ties a control to its label and its notes. */
export interface Attributes {
  readonly id: string;
  readonly "aria-required": boolean;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string;
}

function isEmpty(draft: Draft): boolean {
  if (draft.kind === "absent") return true;
  if (draft.kind === "text" || draft.kind === "json") return draft.text === "";
  if (draft.kind === "choices") return draft.indexes.length === 0;
  return draft.kind === "list" && draft.items.length === 0;
}
