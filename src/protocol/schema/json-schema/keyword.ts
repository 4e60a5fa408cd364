// The types of keywords: their input when compiled, and the check that they return.
import type { JsonObject } from "../../../base/wire/message.ts";
import type { Payer } from "./budget.ts";
import type { Node, NodeCheck, valueKinds } from "./node.ts";
import type { Pattern } from "./pattern.ts";

/** The supported drafts, in order. */
export type SchemaDraft = 4 | 7 | 2019 | 2020;

/** The schema that contains a keyword, and how the keyword compiles other schemas. */
export interface Surroundings {
  readonly schema: JsonObject;
  readonly draft: SchemaDraft;
  /** Compiles a schema inside this one. */
  readonly inner: (schema: unknown) => Node;
  /** Compiles a reference. */
  readonly referred: (
    keyword: "$ref" | "$dynamicRef" | "$recursiveRef",
    reference: string,
  ) => NodeCheck<unknown>;
  readonly pattern: (source: string) => Pattern;
  /** Counts the steps of compiling. */
  readonly payer: Payer;
}

/** A keyword: the kinds of values that it applies to, and a function that returns its check, or undefined if there is none. */
export interface Keyword {
  readonly about: readonly (keyof typeof valueKinds)[];
  readonly compile: (setting: never, surroundings: Surroundings) => NodeCheck | undefined;
}

export type KeywordTable = readonly (readonly [name: string, keyword: Keyword])[];
