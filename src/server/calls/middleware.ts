// Middleware: functions of the author that run around every request, in the order of registration.
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "../../protocol/model.ts";
import { clip, ConfigurationError } from "../../base/errors.ts";
import { nearest } from "../../base/options.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Context } from "../context/context.ts";

/** The requests whose parameters and results middleware sees with their own types. */
export interface RequestKinds {
  "tools/call": { params: { name: string; arguments?: JsonObject }; result: CallToolResult };
  "prompts/get": {
    params: { name: string; arguments?: Readonly<Record<string, string>> };
    result: GetPromptResult;
  };
  "resources/read": { params: { uri: string }; result: ReadResourceResult };
  "completion/complete": {
    params: { ref: CompletionReference; argument: { name: string; value: string } };
    result: CompleteResult;
  };
  "tools/list": {
    params: { cursor?: string };
    result: { tools: readonly Tool[]; nextCursor?: string };
  };
  "prompts/list": {
    params: { cursor?: string };
    result: { prompts: readonly Prompt[]; nextCursor?: string };
  };
  "resources/list": {
    params: { cursor?: string };
    result: { resources: readonly Resource[]; nextCursor?: string };
  };
  "resources/templates/list": {
    params: { cursor?: string };
    result: { resourceTemplates: readonly ResourceTemplate[]; nextCursor?: string };
  };
}

/** A request as middleware sees it: the method, and the parameters that the client sent. */
export interface IncomingRequest<Method extends string = string> {
  readonly method: Method;
  readonly params: Method extends keyof RequestKinds ? RequestKinds[Method]["params"] : JsonObject;
}

/**
 * Runs the next middleware, or the handler. The members of `added` appear on `ctx` from there on. Rejects with the error that
 * the handler threw; a tool's {@link ToolError} is meant for the model, and resolves as an error result.
 */
export type Next<Result, Added> = (added?: Added) => Promise<Result>;

/** Runs around every request. */
export type Middleware<Extra, Added> = (
  request: IncomingRequest,
  ctx: Context & Extra,
  next: Next<JsonObject, Added>,
) => Promise<object> | object;

/** Runs around the requests of one method. */
export type MethodMiddleware<Method extends keyof RequestKinds, Extra> = (
  request: IncomingRequest<Method>,
  ctx: Context & Extra,
  next: Next<RequestKinds[Method]["result"], Record<string, unknown>>,
) => Promise<RequestKinds[Method]["result"]> | RequestKinds[Method]["result"];

/** Either kind of middleware, without its types. */
export type AnyMiddleware = (
  request: IncomingRequest,
  ctx: unknown,
  next: (added?: object) => Promise<unknown>,
) => unknown;

/** Throws for middleware with the parameters of another package, which could never call `next`. */
export function checkReachesNext({ length }: AnyMiddleware): void {
  if (length !== 2 && length < 4) return;
  const problem = `takes (request, ctx, next), and not ${length} parameters`;
  throw new ConfigurationError("INVALID_DEFINITION", { subject: "server.use", field: "handler" }, problem);
}

/** Throws for a method that middleware never sees: a misspelled method of the protocol, or a notification. */
export function checkMiddlewareMethod(method: string): void {
  const known: Record<string, true> = {};
  for (const { requests } of revisions) for (const name of requests.keys()) known[name] = true;
  const fail = (problem: string): never => {
    throw new ConfigurationError("INVALID_DEFINITION", { subject: "server.use", field: "method" }, problem);
  };
  if (method.startsWith("notifications/"))
    fail(`is ${JSON.stringify(clip(method))}: call server.onNotification(handler) for notifications`);
  if (Object.hasOwn(known, method)) return;
  const given = `is ${JSON.stringify(clip(method))}, which`;
  if (!/^[^/*\s]+(\/[^/*\s]+)+$/.test(method)) {
    const near = nearest(method, known);
    const remedy = near.startsWith("did") ? near : "for all requests, call server.use(handler)";
    fail(`${given} cannot be a method: ${remedy}`);
  }
  // A method with a prefix of its own may be added later.
  const isOfProtocol = Object.keys(known).some((name) => prefixOf(name) === prefixOf(method));
  if (isOfProtocol) fail(`${given} the protocol does not have: ${nearest(method, known)}`);
}

/** The first part of a method, the same in singular and plural. */
function prefixOf(method: string): string | undefined {
  return method.toLowerCase().split(/s?\//, 1)[0];
}

/** What the chain needs of a call. */
interface Extendable {
  readonly method: string;
  readonly params: JsonObject;
  /** Adds the members that middleware passes to `next`. */
  extend(added: object): void;
}

/** The chain of middleware. If it is empty, a request goes straight to its handler. */
export class Middlewares {
  readonly #chain: { readonly method: string | undefined; readonly run: AnyMiddleware }[] = [];

  readonly #onUnknown: (method: string) => void;
  readonly #isKnown: (method: string) => boolean;
  #unchecked: string[] = [];

  /** At the first request, `onUnknown` gets each method of middleware that is not known. */
  constructor(isKnown: (method: string) => boolean, onUnknown: (method: string) => void) {
    this.#isKnown = isKnown;
    this.#onUnknown = onUnknown;
  }

  add(run: AnyMiddleware, method?: string): void {
    this.#chain.push({ method, run });
    if (method !== undefined) this.#unchecked.push(method);
  }

  /** Runs `handler` inside all middleware that applies to the call. */
  around<Call extends Extendable>(call: Call, handler: (call: Call) => unknown): unknown {
    if (this.#chain.length === 0) return handler(call);
    for (const method of this.#unchecked.splice(0)) if (!this.#isKnown(method)) this.#onUnknown(method);
    const chain = this.#chain.filter(({ method }) => method === undefined || method === call.method);
    const request = { method: call.method, params: call.params };
    const step = async (index: number, added?: object): Promise<unknown> => {
      if (added) call.extend(added);
      const { run } = chain[index] ?? {};
      return run ? run(request, call, (more) => step(index + 1, more)) : handler(call);
    };
    return step(0);
  }
}
