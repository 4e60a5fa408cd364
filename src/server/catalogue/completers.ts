// Completers: suggestions for the arguments of prompts and the variables of templates.
import type { CompletionReference } from "../../protocol/model.ts";
import type { Context } from "../context.ts";

/** What has been typed so far, and for what. */
export interface CompletionRequest {
  readonly ref: CompletionReference;
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that have been filled in already. */
  readonly context: Readonly<Record<string, string>>;
}

/** Suggestions, best first: a plain list, or a list with the size of the whole. */
export type Suggestions =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };

/** Suggests values for one argument, given what has been typed and the other arguments. */
export type Completer = (
  value: string,
  others: Readonly<Record<string, string>>,
  ctx: Context,
) => Suggestions | Promise<Suggestions>;

/** Suggests values for any argument; undefined leaves it to the argument's own completer. */
export type CompletionHandler = (
  request: CompletionRequest,
  ctx: Context,
) => Suggestions | undefined | Promise<Suggestions | undefined>;
