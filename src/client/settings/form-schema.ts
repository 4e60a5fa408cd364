// The form that a server asks the user to fill in, the same for every revision.

/** What every field of a form may have. */
type Labelled = {
  /** What to call the field. @default {its name} */
  readonly title?: string;
  readonly description?: string;
};

/** A text, or one choice if it has `enum` or `oneOf`. */
export type TextField = Labelled & {
  readonly type: "string";
  /** The choices. */
  readonly enum?: string[];
  /** What to call the choices of `enum`, in the same order. */
  readonly enumNames?: string[];
  /** The choices, with what to call them. */
  readonly oneOf?: FormChoice[];
  readonly minLength?: number;
  readonly maxLength?: number;
  /** `email`, `uri`, `date` or `date-time`; ignore any other. */
  readonly format?: string;
  readonly default?: string;
};

/** A number, or a whole one. */
export type NumberField = Labelled & {
  readonly type: "number" | "integer";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
};

/** Yes or no. */
export type BooleanField = Labelled & { readonly type: "boolean"; readonly default?: boolean };

/** Several choices. */
export type ListField = Labelled & {
  readonly type: "array";
  readonly items: {
    /** The choices. */
    readonly enum?: string[];
    /** The choices, with what to call them. */
    readonly anyOf?: FormChoice[];
  };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: string[];
};

/** One of the choices of a field. */
export type FormChoice = {
  /** The value that the answer has. */
  readonly const: string;
  /** What to call it. @default {the value} */
  readonly title?: string;
};

/** A field of a form. `type` tells which. */
export type FormField = TextField | NumberField | BooleanField | ListField;

/** A form: its fields by name, in the order in which to ask. The client refuses what is none, before it calls your handler. */
export type FormSchema = {
  readonly type: "object";
  readonly properties: { readonly [name: string]: FormField };
  /** The names of the fields that cannot be left out. */
  readonly required?: string[];
};
