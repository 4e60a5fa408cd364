// Extensions of an author: methods for modern or for all clients, and members of listen filters for modern clients.
import { ConfigurationError, missingCapability } from "../../base/errors.ts";
import { filledText, func, type Known, needed, oneOf, plainObject, problemOf } from "../../base/kinds.ts";
import { checkOptions } from "../../base/options.ts";
import { extensionIdProblem } from "../../protocol/meta.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isProtocolMethod, revisions } from "../../protocol/revisions/index.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { AddedMethod } from "./methods.ts";
import type { Context } from "../context/context.ts";

/** Handles a request for a method of an extension, and returns the result. */
export type ExtensionRequest = (params: JsonObject, ctx: Context) => object | Promise<object>;

/**
 * Adds methods and listen filters to the protocol. Register it with `server.extension`. Only clients that declare the extension
 * can use it, unless `declaration` is `optional`.
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
  /** The settings that the server publishes under the identifier. @default {{}} */
  readonly settings?: JsonObject | undefined;
  /** The clients that can use it. With `both`, legacy clients see it in `initialize`, and declare it there. @default {"modern"} */
  readonly eras?: "modern" | "both" | undefined;
  /** Whether clients must declare it. If so, other clients get -32021 with `requiredCapabilities`. @default {"required"} */
  readonly declaration?: "required" | "optional" | undefined;
  /** Handlers by method name. */
  readonly requests?: { readonly [method: string]: ExtensionRequest | ExtensionMethod } | undefined;
  /** Members of listen filters, and the notification that each one subscribes to. */
  readonly listens?: { readonly [member: string]: ExtensionListen } | undefined;
}

/** A method of an extension: its handler, and the header that HTTP clients send with it. */
export interface ExtensionMethod {
  readonly run: ExtensionRequest;
  /** The parameter that HTTP clients must repeat in the `Mcp-Name` header. */
  readonly mirrors?: string;
}

/** A member that an extension adds to listen filters. */
export interface ExtensionListen {
  readonly notification: string;
  /** A `flag` is true or false; `keys` is a list of strings. Publish with `server.push.publish(notification, key)`. */
  readonly kind: "flag" | "keys";
  /** Rejects the request of a client that did not declare the extension. @default {the member is ignored} */
  readonly requiresDeclaration?: true;
  /** Returns the keys that this client may subscribe to. @default {all} */
  readonly permits?: (
    keys: readonly string[],
    ctx: Context,
  ) => readonly string[] | Promise<readonly string[]>;
}

interface Listens {
  readonly identifier: string;
  readonly row: ExtensionListen;
  readonly declaration: Extension["declaration"];
}

const knownExtension: Known<Extension> = {
  settings: plainObject,
  requests: plainObject,
  listens: plainObject,
  eras: oneOf("modern", "both"),
  declaration: oneOf("required", "optional"),
};
const knownMethod: Known<ExtensionMethod> = { run: needed(func), mirrors: filledText };
const knownListen: Known<ExtensionListen> = {
  notification: needed(filledText),
  kind: needed(oneOf("flag", "keys")),
  requiresDeclaration: { is: (value) => value === true, mustBe: "true, or left out" },
  permits: func,
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
  readonly requests: Map<string, AddedMethod & { readonly eras: Extension["eras"] }> = new Map();
  readonly #extensions = new Map<string, Extension>();
  readonly #listens = new Map<string, Listens>();
  readonly #isTaken: (method: string) => boolean;

  /** `isTaken` returns whether the author registered a custom method of that name. */
  constructor(isTaken: (method: string) => boolean) {
    this.#isTaken = isTaken;
  }

  add(identifier: string, extension: Extension): void {
    const subject = typeof identifier === "string" ? `extension "${identifier}"` : "extension";
    const where = { subject, field: "identifier" };
    const problem = problemOf(filledText, identifier) ?? extensionIdProblem(identifier);
    if (problem) throw new ConfigurationError("INVALID_NAME", where, problem);
    if (this.#extensions.has(identifier))
      throw new ConfigurationError("DUPLICATE_NAME", where, "is already registered");
    checkExtension(subject, extension);
    this.#assertUnused(subject, extension);
    this.#extensions.set(identifier, extension);
    const { eras, declaration } = extension;
    for (const [method, added] of Object.entries(extension.requests ?? {})) {
      const { run, ...row } = typeof added === "function" ? { run: added } : added;
      const declared: ExtensionRequest = (params, ctx) => {
        if (declaration !== "optional") requireDeclared(ctx, identifier);
        return run(params, ctx);
      };
      this.requests.set(method, { row: { ...row, isAdded: true }, run: declared, eras });
    }
    for (const [member, row] of Object.entries(extension.listens ?? {})) {
      this.#listens.set(member, { identifier, row, declaration });
    }
  }

  /** Checks every name before `add` stores the first, so that a clash leaves nothing behind. */
  #assertUnused(subject: string, { requests = {}, listens = {}, eras }: Extension): void {
    const modern = revisions.filter(({ era }) => era === "modern");
    const isModernMethod = (name: string): boolean => modern.some((revision) => revision.requests.has(name));
    const isOfProtocol = eras === "both" ? isProtocolMethod : isModernMethod;
    const fail = (field: string, name: string, noun: string): never => {
      const clash = `has "${name}", which is already a ${noun}: choose another name`;
      throw new ConfigurationError("DUPLICATE_NAME", { subject, field }, clash);
    };
    for (const method of Object.keys(requests)) {
      if (this.requests.has(method) || this.#isTaken(method) || isOfProtocol(method))
        fail("requests", method, "method");
    }
    for (const member of Object.keys(listens)) {
      if (this.#listens.has(member) || modern.some((revision) => revision.listens.has(member)))
        fail("listens", member, "filter");
    }
  }

  /** The members that extensions add to listen filters. */
  get listenMembers(): Iterable<string> {
    return this.#listens.keys();
  }

  /** Whether an extension lets clients subscribe to the notification. */
  publishes(notification: string): boolean {
    return [...this.#listens.values()].some(({ row }) => row.notification === notification);
  }

  /** Finds a method that clients of the era can call. */
  find(method: string, era: Revision["era"]): AddedMethod | undefined {
    const added = this.requests.get(method);
    return era === "modern" || added?.eras === "both" ? added : undefined;
  }

  /** Finds a member of listen filters that this client can use. Throws if the member requires a declaration that is missing. */
  listen(member: string, ctx: Context): ExtensionListen | undefined {
    const found = this.#listens.get(member);
    if (!found || found.declaration === "optional") return found?.row;
    if (found.row.requiresDeclaration) requireDeclared(ctx, found.identifier);
    return isDeclared(ctx, found.identifier) ? found.row : undefined;
  }

  /** The settings, by identifier, of the extensions that clients of the era can use; undefined if there are none. */
  settings(era: Revision["era"]): JsonObject | undefined {
    const offered = [...this.#extensions].filter(([, { eras }]) => era === "modern" || eras === "both");
    if (offered.length === 0) return undefined;
    return Object.fromEntries(offered.map(([identifier, { settings = {} }]) => [identifier, settings]));
  }
}

export function isDeclared(ctx: Context, identifier: string): boolean {
  const { extensions } = ctx.clientCapabilities;
  return isObject(extensions) && Object.hasOwn(extensions, identifier);
}

export function requireDeclared(ctx: Context, identifier: string): void {
  if (isDeclared(ctx, identifier)) return;
  const required = { extensions: { [identifier]: {} } };
  throw missingCapability(`The client did not declare ${identifier}`, required);
}
