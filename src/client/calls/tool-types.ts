// The types of a server's tools, for `connect<Tools>`: which arguments a call takes, and what its structured result holds.
import type { CallToolResult } from "../settings/received.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** The types of one tool. */
export interface ToolType {
  /** Its arguments. */
  readonly input?: object;
  /** Its structured content. */
  readonly output?: unknown;
}

/** The tools of a server, by name: write an interface, or have one generated. */
export type ToolTypes<Tools> = { readonly [Name in keyof Tools]: ToolType };

/** The tools of a server whose tools are not known at compile time. */
export interface AnyTools {
  readonly [name: string]: { readonly input: JsonObject; readonly output: unknown };
}

type InputOf<Tool> = Tool extends { readonly input: infer Input extends object } ? Input : JsonObject;

/** The arguments of `callTool` after the name: the tool's arguments, optional if it requires none, and the options. */
export type ToolArguments<Tool> =
  Record<never, never> extends InputOf<Tool>
    ? [args?: InputOf<Tool>, options?: CallOptions]
    : [args: InputOf<Tool>, options?: CallOptions];

/** The result of a tool. A result with `isError` has no structured content. */
export type ToolResultOf<Tool> = Omit<CallToolResult, "structuredContent"> & {
  readonly structuredContent?: Tool extends { readonly output: infer Output } ? Output : unknown;
};
