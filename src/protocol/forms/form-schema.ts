// The form that a server asks the user to fill in, the same for every revision.

/** The members of every field. */
type Labelled = {
  /** The label of the field. @default {its name} */
  readonly title?: string;
  readonly description?: string;
};

/** A text, or one choice if it has `enum` or `oneOf`. */
export type TextField = Labelled & {
  readonly type: "string";
  /** The choices. */
  readonly enum?: string[];
  /** The labels of the choices of `enum`, in the same order. */
  readonly enumNames?: string[];
  /** The choices with their labels. */
  readonly oneOf?: FormChoice[];
  readonly minLength?: number;
  readonly maxLength?: number;
  /** `email`, `uri`, `date` or `date-time`; ignore any other. */
  readonly format?: string;
  readonly default?: string;
};

/** A number or an integer. */
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
    /** The choices with their labels. */
    readonly anyOf?: FormChoice[];
  };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: string[];
};

/** One of the choices of a field. */
export type FormChoice = {
  /** The value of the choice in the answer. */
  readonly const: string;
  /** The label of the choice. @default {the value} */
  readonly title?: string;
};

/** A field of a form. Its `type` tells which kind. */
export type FormField = TextField | NumberField | BooleanField | ListField;

/**
 * A form: its fields by name, in the order in which to show them. The client rejects invalid forms before it calls your handler.
 */
export type FormSchema = {
  readonly type: "object";
  readonly properties: { readonly [name: string]: FormField };
  /** The names of the required fields. */
  readonly required?: string[];
};
