// Refuses what other clients pass to the methods of a client, and shows the form here.
import { func, mismatch, problemOf } from "../../kinds.ts";
import { isObject } from "../../wire/message.ts";

/** Refuses the object form of other clients. */
export function checkName(method: string, name: unknown, args: string): void {
  if (typeof name === "string") return;
  const given = (name as { readonly name?: unknown } | undefined)?.name;
  const shown = typeof given === "string" ? given : "name";
  throw new TypeError(`${method} takes the name and the arguments apart: ${method}("${shown}", ${args})`);
}

export function checkArguments(method: string, tool: string, args: unknown): void {
  if (args !== undefined && !isObject(args))
    throw new TypeError(`${method}("${tool}"): the arguments must be an object, such as { city: "Oslo" }`);
}

/** What JSON-RPC allows is more; MCP has objects only. */
export function checkParams(method: string, params: unknown): void {
  if (params !== undefined && !isObject(params))
    throw new TypeError(`${method}: params ${mismatch("an object", params, true)}`);
}

export function checkMiddleware(middleware: unknown): void {
  const problem = problemOf(func, middleware);
  if (problem !== undefined) throw new TypeError(`use: middleware ${problem}`);
}

export function checkUri(uri: unknown): void {
  if (typeof uri === "string" || uri instanceof URL) return;
  throw new TypeError('readResource takes the URI alone: readResource("note:///1")');
}

export function checkReference(ref: unknown): void {
  if ((Object(ref) as { readonly ref?: unknown }).ref === undefined) return;
  throw new TypeError(
    "complete takes its parts one by one: complete(ref, argument, { context: { name: value } })",
  );
}
