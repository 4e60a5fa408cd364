// Extensions: fragments that add methods and listen filters to the tables of the modern era.
import { ConfigurationError, errorCodes, ProtocolError } from "../errors.ts";
import { extensionIdProblem } from "../protocol/meta.ts";
import type { ListenRow } from "../protocol/revision.ts";
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
  readonly requests?: { readonly [method: string]: ExtensionRequest };
  /** Members that a listen filter may have, and the notification that each asks for. */
  readonly listens?: {
    readonly [member: string]: { readonly notification: string; readonly kind: "flag" | "keys" };
  };
}

/** The extensions of one server. */
export class Extensions {
  readonly settings: Record<string, JsonObject> = {};
  readonly requests: Map<string, ExtensionRequest> = new Map();
  readonly listens: Map<string, Omit<ListenRow, "feature">> = new Map();

  add(identifier: string, extension: Extension): void {
    const subject = `extension "${identifier}"`;
    const problem = extensionIdProblem(identifier);
    if (problem !== undefined)
      throw new ConfigurationError("INVALID_NAME", { subject, field: "identifier" }, problem);
    if (Object.hasOwn(this.settings, identifier)) {
      throw new ConfigurationError(
        "DUPLICATE_NAME",
        { subject, field: "identifier" },
        "is registered already",
      );
    }
    this.settings[identifier] = extension.settings ?? {};
    for (const [method, run] of Object.entries(extension.requests ?? {})) {
      this.requests.set(method, (params, ctx) => {
        assertDeclared(ctx, identifier);
        return run(params, ctx);
      });
    }
    for (const [member, row] of Object.entries(extension.listens ?? {})) this.listens.set(member, row);
  }
}

function assertDeclared(ctx: Context, identifier: string): void {
  const { extensions } = ctx.clientCapabilities;
  if (isObject(extensions) && Object.hasOwn(extensions, identifier)) return;
  throw new ProtocolError(errorCodes.missingClientCapability, `The client did not declare ${identifier}`, {
    requiredCapabilities: { extensions: { [identifier]: {} } },
  });
}
