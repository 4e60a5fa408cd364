// Extensions: fragments that add methods and listen filters to the tables of the modern era, or methods to those of both.
import { ConfigurationError, errorCodes, ProtocolError } from "../../errors.ts";
import { checkOptions, type Known } from "../../options.ts";
import { extensionIdProblem } from "../../protocol/meta.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isProtocolMethod, revisions } from "../../protocol/revisions/index.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { AddedMethod } from "./methods.ts";
import type { Context } from "../context/context.ts";

/** Answers a method that an extension adds. */
export type ExtensionRequest = (params: JsonObject, ctx: Context) => object | Promise<object>;

/**
 * What an extension adds to the protocol. Off until a server asks for it, and only for clients that declare it too, unless
 * `declaration` is `optional`.
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
  /** Which clients have it; with `both`, legacy ones are told of it by `initialize`, and may declare it there. @default {"modern"} */
  readonly eras?: "modern" | "both";
  /** Whether only clients that declare it may use it; others get -32021, with what is missing. @default {"required"} */
  readonly declaration?: "required" | "optional";
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

interface Listens {
  readonly identifier: string;
  readonly row: ExtensionListen;
  readonly declaration: Extension["declaration"];
}

const knownExtension: Known<Extension> = {
  settings: true,
  requests: true,
  listens: true,
  eras: true,
  declaration: true,
};
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
  readonly requests: Map<string, AddedMethod & { readonly eras: Extension["eras"] }> = new Map();
  readonly #extensions = new Map<string, Extension>();
  readonly #listens = new Map<string, Listens>();
  readonly #isTaken: (method: string) => boolean;

  /** `isTaken` says which methods the author has added on their own. */
  constructor(isTaken: (method: string) => boolean) {
    this.#isTaken = isTaken;
  }

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
    assertOneOf(subject, "eras", extension.eras, ["modern", "both"]);
    assertOneOf(subject, "declaration", extension.declaration, ["required", "optional"]);
    this.#assertUnused(subject, extension);
    this.#extensions.set(identifier, extension);
    const { eras, declaration } = extension;
    for (const [method, added] of Object.entries(extension.requests ?? {})) {
      const { run, ...row } = typeof added === "function" ? { run: added } : added;
      const declared: ExtensionRequest = (params, ctx) => {
        if (declaration !== "optional") requireDeclared(ctx, identifier);
        return run(params, ctx);
      };
      this.requests.set(method, { row, run: declared, eras });
    }
    for (const [member, row] of Object.entries(extension.listens ?? {})) {
      this.#listens.set(member, { identifier, row, declaration });
    }
  }

  /** Before anything is added: an extension is there whole, or not at all. */
  #assertUnused(subject: string, { requests = {}, listens = {}, eras }: Extension): void {
    const modern = revisions.filter(({ era }) => era === "modern");
    const isModernMethod = (name: string): boolean => modern.some((revision) => revision.requests.has(name));
    const isOfProtocol = eras === "both" ? isProtocolMethod : isModernMethod;
    const fail = (field: string, name: string, noun: string): never => {
      const clash = `has "${name}", which is a ${noun} already: choose a name of its own`;
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

  /** The members of listen filters that extensions have added. */
  get listenMembers(): Iterable<string> {
    return this.#listens.keys();
  }

  /** The method of that name, if clients of that era have it. */
  find(method: string, era: Revision["era"]): AddedMethod | undefined {
    const added = this.requests.get(method);
    return era === "modern" || added?.eras === "both" ? added : undefined;
  }

  /** What a member of a listen filter asks for, if an extension that the client may use has it. */
  listen(member: string, ctx: Context): ExtensionListen | undefined {
    const found = this.#listens.get(member);
    if (found === undefined || found.declaration === "optional") return found?.row;
    if (found.row.requiresDeclaration) requireDeclared(ctx, found.identifier);
    return isDeclared(ctx, found.identifier) ? found.row : undefined;
  }

  has(identifier: string): boolean {
    return this.#extensions.has(identifier);
  }

  /** The settings of those that clients of that era have, by identifier; undefined when there are none. */
  settings(era: Revision["era"]): JsonObject | undefined {
    const offered = [...this.#extensions].filter(([, { eras }]) => era === "modern" || eras === "both");
    if (offered.length === 0) return undefined;
    return Object.fromEntries(offered.map(([identifier, { settings = {} }]) => [identifier, settings]));
  }
}

function assertOneOf(subject: string, field: string, value: unknown, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  const problem = `must be ${allowed.map((each) => `"${each}"`).join(" or ")}`;
  throw new ConfigurationError("INVALID_DEFINITION", { subject, field }, problem);
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
