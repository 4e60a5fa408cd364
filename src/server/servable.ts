// What a transport sees of a server.
import type { Loads } from "../limits/loads.ts";
import { ConfigurationError } from "../errors.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import type { RequestRow } from "../protocol/revision.ts";
import type { SpokenRevisions } from "../protocol/revisions/index.ts";
import type { Stream } from "../push/listener.ts";
import type { Incoming, ReadMessage, RpcMessage, RpcResponse } from "../wire/message.ts";
import type { AttachOptions, Detach } from "./attach.ts";
import type { Connection, Exchange } from "./connection.ts";
import type { Answering } from "./dispatch.ts";
import type { ServerEvent } from "./events.ts";
import type { Logger } from "./logger.ts";
import type { ServerLimits, ServerMode } from "./options.ts";
import type { Answer } from "./answer.ts";

/**
 * What a transport needs of a server: any {@link McpServer} fits, whatever its middleware adds.
 *
 * @example
 * ```ts
 * import { McpServer, type Servable } from "halyard";
 *
 * const servers: Servable[] = [new McpServer({ name: "demo", version: "1.0.0" })];
 * ```
 */
export interface Servable {
  readonly mode: ServerMode;
  /** The revisions that it speaks. */
  readonly revisions: SpokenRevisions;
  readonly limits: ServerLimits;
  readonly logger: Logger;
  /** What messages weigh until they have been answered; a transport counts what it reads. */
  readonly loads: Loads;
  /** Where a transport tells what it refuses by itself. */
  readonly observe?: ((event: ServerEvent) => void) | undefined;
  handle(message: RpcMessage, exchange: Exchange): Promise<RpcResponse | undefined>;
  handleRaw(text: string, exchange?: Exchange): Promise<string | undefined>;
  answer(message: ReadMessage, exchange: Exchange): Answering<RpcResponse>;
  answer(incoming: Incoming, exchange: Exchange): Answering<Answer>;
  encode(answer: Answer): string;
  attach(connection: Connection, stream: Stream, options?: AttachOptions): Detach;
  paramHeaders(tool: string): readonly ParamHeader[];
  modernRow(method: string): RequestRow | undefined;
  readonly unsharedRequestState: "keys" | "singleUse" | undefined;
  /** Whether any definition names scopes, or ever did. */
  readonly usesScopes: boolean;
  /** Every scope that a message, or the messages of a batch, need together. */
  neededScopes(value: unknown): readonly string[];
}

/** Throws unless it is a server: a factory, as other SDKs take it, would fail much later. */
export function assertServable(server: Servable, subject: string): void {
  if (typeof (server as unknown) === "object" && typeof server?.handleRaw === "function") return;
  const problem =
    typeof server === "function"
      ? "is a function: pass the McpServer itself, which serves every client"
      : "is not an McpServer";
  throw new ConfigurationError("INVALID_OPTION", { subject, field: "server" }, problem);
}
