// Completers: suggestions for the arguments of prompts and the variables of templates.
import type { CompletionReference } from "../../protocol/model.ts";
import type { Context } from "../context/context.ts";

/** A request for suggestions: the argument, and what the user has typed so far. */
export interface CompletionRequest {
  readonly ref: CompletionReference;
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that the user has already filled in. */
  readonly context: Readonly<Record<string, string>>;
}

/** Suggestions, best first: a list, or a list with the total number. */
export type Suggestions =
  | readonly string[]
  | {
      /** At most 100 are sent. */
      readonly values: readonly string[];
      /** How many there are in all. @default {the number of values} */
      readonly total?: number;
      /** Whether there are more than these. @default {whether `total` is above the number of values} */
      readonly hasMore?: boolean;
    };

/** Suggests values for one argument, from what the user has typed and the other arguments. */
export type Completer<Extra = object> = (
  value: string,
  others: Readonly<Record<string, string>>,
  ctx: Context & Extra,
) => Suggestions | Promise<Suggestions>;

/** Suggests values for any argument; if it returns undefined, the argument's own completer runs. */
export type CompletionHandler<Extra = object> = (
  request: CompletionRequest,
  ctx: Context & Extra,
) => Suggestions | undefined | Promise<Suggestions | undefined>;
