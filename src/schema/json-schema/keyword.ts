// What a keyword is compiled from, and what it becomes.
import type { JsonObject } from "../../wire/message.ts";
import type { Check, kinds, Node } from "./node.ts";
import type { Pattern } from "./pattern.ts";

/** The drafts, in order. Between those that are supported nothing changed that is not in the other. */
export type Draft = 4 | 7 | 2019 | 2020;

/** The schema that a keyword stands in, and how it gets at others. */
export interface Surroundings {
  readonly schema: JsonObject;
  readonly draft: Draft;
  /** The compiled form of a schema inside this one. */
  readonly inner: (schema: unknown) => Node;
  /** The compiled form of what a reference leads to. */
  readonly referred: (keyword: "$ref" | "$dynamicRef" | "$recursiveRef", reference: string) => Check<unknown>;
  readonly pattern: (source: string) => Pattern;
}

/** A keyword: the kinds of values that it is about, and how its check is made. Undefined: there is nothing to check. */
export interface Keyword {
  readonly about: readonly (keyof typeof kinds)[];
  readonly compile: (setting: never, surroundings: Surroundings) => Check | undefined;
}

export type KeywordTable = readonly (readonly [name: string, keyword: Keyword])[];
