// Extensions: fragments that add methods and listen filters to the tables of the modern era.
import { ConfigurationError, errorCodes, ProtocolError } from "../errors.ts";
import { checkOptions, type Known } from "../options.ts";
import { extensionIdProblem } from "../protocol/meta.ts";
import type { RequestRow } from "../protocol/revision.ts";
import { newestRevision } from "../protocol/revisions/index.ts";
import { isObject, type JsonObject } from "../wire/message.ts";
import type { Context } from "./context.ts";

/** Answers a method that an extension adds. */
export type ExtensionRequest = (params: JsonObject, ctx: Context) => object | Promise<object>;

/**
 * What an extension adds to the protocol. Off until a server asks for it, and only for clients that declare it too.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.extension("com.example/clock", {
 *   requests: { "clock/now": () => ({ now: new Date().toISOString() }) },
 * });
 * ```
 */
export interface Extension {
  /** Told to clients with the identifier. @default {{}} */
  readonly settings?: JsonObject;
  /** Methods by name, with their handlers. */
  readonly requests?: { readonly [method: string]: ExtensionRequest | ExtensionMethod };
  /** Members that a listen filter may have, and the notification that each asks for. */
  readonly listens?: { readonly [member: string]: ExtensionListen };
}

/** A method that an extension adds, with what the protocol says of it. */
export interface ExtensionMethod {
  readonly run: ExtensionRequest;
  /** Over HTTP, the parameter that the `Mcp-Name` header must repeat. */
  readonly mirrors?: string;
}

/** A member that an extension adds to listen filters. */
export interface ExtensionListen {
  readonly notification: string;
  /** `flag`: true asks for it; `keys`: a list of strings says of what. Publish with `server.push.publish(notification, key)`. */
  readonly kind: "flag" | "keys";
  /** Whether a client that asks for it, and did not declare the extension, gets an error. @default {it gets the rest} */
  readonly requiresDeclaration?: true;
  /** Which of the keys this client may be told of. @default {all} */
  readonly permits?: (
    keys: readonly string[],
    ctx: Context,
  ) => readonly string[] | Promise<readonly string[]>;
}

/** A method of an extension, as dispatch finds it. */
interface AddedMethod {
  readonly row: RequestRow;
  readonly run: ExtensionRequest;
}

const knownExtension: Known<Extension> = { settings: true, requests: true, listens: true };
const knownMethod: Known<ExtensionMethod> = { run: true, mirrors: true };
const knownListen: Known<ExtensionListen> = {
  notification: true,
  kind: true,
  requiresDeclaration: true,
  permits: true,
};

function checkExtension(subject: string, extension: Extension): void {
  const place = { subject, code: "INVALID_DEFINITION" } as const;
  checkOptions(place, extension, knownExtension);
  const { requests = {}, listens = {} } = extension;
  const isRow = ([, method]: [string, unknown]): boolean => typeof method !== "function";
  for (const [name, row] of Object.entries(requests).filter(isRow))
    checkOptions(place, row, knownMethod, `requests["${name}"].`);
  for (const [name, row] of Object.entries(listens))
    checkOptions(place, row, knownListen, `listens["${name}"].`);
}

/** The extensions of one server. */
export class Extensions {
  readonly settings: Record<string, JsonObject> = {};
  readonly requests: Map<string, AddedMethod> = new Map();
  readonly #listens = new Map<string, { readonly identifier: string; readonly row: ExtensionListen }>();

  add(identifier: string, extension: Extension): void {
    const subject = `extension "${identifier}"`;
    const problem = extensionIdProblem(identifier);
    if (problem !== undefined)
      throw new ConfigurationError("INVALID_NAME", { subject, field: "identifier" }, problem);
    if (this.has(identifier)) {
      throw new ConfigurationError(
        "DUPLICATE_NAME",
        { subject, field: "identifier" },
        "is registered already",
      );
    }
    checkExtension(subject, extension);
    this.#assertUnused(subject, extension);
    this.settings[identifier] = extension.settings ?? {};
    for (const [method, added] of Object.entries(extension.requests ?? {})) {
      const { run, ...row } = typeof added === "function" ? { run: added } : added;
      const declared: ExtensionRequest = (params, ctx) => {
        requireDeclared(ctx, identifier);
        return run(params, ctx);
      };
      this.requests.set(method, { row, run: declared });
    }
    for (const [member, row] of Object.entries(extension.listens ?? {})) {
      this.#listens.set(member, { identifier, row });
    }
  }

  /** Before anything is added: an extension is there whole, or not at all. */
  #assertUnused(subject: string, { requests = {}, listens = {} }: Extension): void {
    const core = newestRevision("modern");
    const fail = (field: string, name: string, noun: string): never => {
      const clash = `has "${name}", which is a ${noun} already: choose a name of its own`;
      throw new ConfigurationError("DUPLICATE_NAME", { subject, field }, clash);
    };
    for (const method of Object.keys(requests)) {
      if (this.requests.has(method) || core.requests.has(method)) fail("requests", method, "method");
    }
    for (const member of Object.keys(listens)) {
      if (this.#listens.has(member) || core.listens.has(member)) fail("listens", member, "filter");
    }
  }

  /** The members of listen filters that extensions have added. */
  get listenMembers(): Iterable<string> {
    return this.#listens.keys();
  }

  /** What a member of a listen filter asks for, if an extension that the client declared has it. */
  listen(member: string, ctx: Context): ExtensionListen | undefined {
    const found = this.#listens.get(member);
    if (found?.row.requiresDeclaration) requireDeclared(ctx, found.identifier);
    return found && isDeclared(ctx, found.identifier) ? found.row : undefined;
  }

  has(identifier: string): boolean {
    return Object.hasOwn(this.settings, identifier);
  }
}

export function isDeclared(ctx: Context, identifier: string): boolean {
  const { extensions } = ctx.clientCapabilities;
  return isObject(extensions) && Object.hasOwn(extensions, identifier);
}

export function requireDeclared(ctx: Context, identifier: string): void {
  if (isDeclared(ctx, identifier)) return;
  throw new ProtocolError(errorCodes.missingClientCapability, `The client did not declare ${identifier}`, {
    requiredCapabilities: { extensions: { [identifier]: {} } },
  });
}
