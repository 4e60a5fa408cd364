// The parts of a server, as the code that answers requests sees them. McpServer puts them together.
import type { Loads } from "../../limits/loads.ts";
import type { ClientCapabilities, Implementation, Principal } from "../../protocol/model.ts";
import type { Asks } from "../../push/asks.ts";
import type { Hub } from "../../push/hub.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { ElicitationIds } from "../asking/elicitation-ids.ts";
import type { RequestState } from "../request-state/request-state.ts";
import type { CompletionHandler } from "../catalogue/completers.ts";
import type { AddedMethod, MethodOptions } from "../catalogue/methods.ts";
import type { CompiledPrompt, PromptOptions } from "../catalogue/prompts.ts";
import type { Registry } from "../catalogue/registry.ts";
import type {
  CompiledResource,
  CompiledTemplate,
  ResourceOptions,
  TemplateOptions,
} from "../catalogue/resources.ts";
import type { CompiledTool, ToolOptions } from "../catalogue/tools.ts";
import type { Extensions } from "../catalogue/extensions.ts";
import type { Features } from "../catalogue/features.ts";
import type { Middlewares } from "./middleware.ts";
import type { Settings } from "../options.ts";
import type { TaskTable } from "../tasks/table.ts";

export interface Core {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly loads: Loads;
  readonly tools: Registry<ToolOptions, CompiledTool>;
  readonly prompts: Registry<PromptOptions, CompiledPrompt>;
  readonly resources: Registry<ResourceOptions, CompiledResource>;
  readonly templates: Registry<TemplateOptions, CompiledTemplate>;
  readonly methods: Registry<MethodOptions, AddedMethod & { readonly options: MethodOptions }>;
  readonly completion: { handler: CompletionHandler | undefined };
  readonly features: Features;
  readonly extensions: Extensions;
  readonly middlewares: Middlewares;
  readonly hub: Hub;
  readonly asks: Asks;
  readonly requestState: RequestState;
  readonly elicitations: ElicitationIds;
  readonly tasks: TaskTable;
  readonly observers: Observers;
  /** Legacy clients have been told the capabilities: they will not hear of a new one. */
  readonly announced: { legacy: boolean };
}

/** What an author has asked to be told of. */
export interface Observers {
  notification: ClientNotificationHandler | undefined;
  rootsChanged: ((from: NotificationSource) => void | Promise<void>) | undefined;
  initialized: ((client: NotificationSource) => void | Promise<void>) | undefined;
  sessionClosed: ((client: NotificationSource, reason: SessionEnd) => void | Promise<void>) | undefined;
}

/** Who sent a notification, or whose session it is. */
export interface NotificationSource {
  readonly session: string | undefined;
  readonly principal: Principal | undefined;
  readonly transport: string;
  /** The date of the revision: what a legacy client agreed on, or what a modern notification says in its `_meta`. */
  readonly revision: string | undefined;
  /** What the client says it is: not to be trusted. */
  readonly client: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
}

/**
 * Why a session has ended for this process: its client left, deleted it, was idle for too long, lost its place to another one,
 * or had a token that expired; or the server shuts down.
 */
export type SessionEnd = "left" | "deleted" | "idle" | "evicted" | "expired" | "shutdown";

/** Sees the notifications that clients send. */
export type ClientNotificationHandler = (
  method: string,
  params: JsonObject,
  from: NotificationSource,
) => void | Promise<void>;
