// Refuses arguments that cannot be sent, and those of other clients' methods, and shows the correct form.
import { protocolNotifications } from "../../protocol/notifications.ts";
import { func, mismatch, problemOf } from "../../base/kinds.ts";
import { unfitForJson } from "../../base/wire/json-fit.ts";
import { isObject } from "../../base/wire/message.ts";

/** Refuses the object form of other clients. */
export function checkArgumentName(method: string, name: unknown, args: string): void {
  if (typeof name === "string") return;
  const given = (name as { readonly name?: unknown } | undefined)?.name;
  const shown = typeof given === "string" ? given : "name";
  throw new TypeError(`${method} takes the name and the arguments apart: ${method}("${shown}", ${args})`);
}

function checkArguments(method: string, tool: string, args: unknown): void {
  if (args !== undefined && !isObject(args))
    throw new TypeError(`${method}("${tool}"): the arguments must be an object, such as { city: "Oslo" }`);
  checkJson(method, tool, args, "arguments");
}

/** `given`: the arguments after the name. */
export function checkCall(method: string, name: unknown, given: readonly unknown[]): void {
  checkArgumentName(method, name, '{ city: "Oslo" }');
  if (given.length > 2)
    throw new TypeError(`${method} takes (name, args, options): there is no schema of the result`);
  checkArguments(method, name as string, given[0]);
}

export function checkListener(event: unknown, callback: unknown): void {
  if (event !== "state") throw new TypeError(`on: there is no event ${String(event)}: use "state"`);
  checkCallback("on", callback);
}

export function checkCallback(method: string, callback: unknown): void {
  const problem = problemOf(func, callback);
  if (problem !== undefined) throw new TypeError(`${method}: callback ${problem}`);
}

/** Refuses the object form of other clients. */
export function checkMethod(method: string, name: unknown): asserts name is string {
  if (typeof name === "string") return;
  const { method: given = "acme/x" } = Object(name) as { readonly method?: unknown };
  throw new TypeError(
    `${method} takes the method and the params apart: ${method}("${String(given)}", params)`,
  );
}

/** JSON-RPC allows other parameters too, but MCP has only objects. */
export function checkParams(method: string, name: unknown, params: unknown): void {
  checkMethod(method, name);
  if (params !== undefined && !isObject(params))
    throw new TypeError(`${method}: params ${mismatch("an object", params, true)}`);
  checkJson(method, name, params, "params");
  if (method === "notify") checkNotification(method, name);
}

/** Throws for a notification of the protocol without its prefix, which a server would ignore. */
export function checkNotification(method: string, name: string): void {
  const whole = `notifications/${name}`;
  if (protocolNotifications.has(whole))
    throw new TypeError(`${method}: ${name} is no notification: did you mean "${whole}"?`);
}

export function checkMiddleware(middleware: unknown): void {
  const { length } = Object(middleware) as { readonly length: number };
  const problem =
    problemOf(func, middleware) ??
    (length > 2 ? `takes (request, next), and not ${length} parameters` : undefined);
  if (problem !== undefined) throw new TypeError(`use: middleware ${problem}`);
}

/** Throws for a value that JSON would leave out or change. */
function checkJson(method: string, name: string, value: unknown, path: string): void {
  const problem = unfitForJson(value);
  if (problem !== undefined)
    throw new TypeError(`${method}("${name}"): ${path}${problem}, which JSON cannot hold`);
}

export function checkUri(uri: unknown): void {
  if (typeof uri === "string" || uri instanceof URL) return;
  throw new TypeError('readResource takes the URI alone: readResource("note:///1")');
}

export function checkReference(ref: unknown): void {
  if (typeof ref === "string")
    throw new TypeError(
      `complete takes a reference: complete({ type: "ref/prompt", name: ${JSON.stringify(ref)} }, { name, value })`,
    );
  if ((Object(ref) as { readonly ref?: unknown }).ref === undefined) return;
  throw new TypeError(
    "complete takes its parts one by one: complete(ref, argument, { context: { name: value } })",
  );
}
