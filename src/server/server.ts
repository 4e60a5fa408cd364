// McpServer: the class that authors use. It holds definitions but no connections, and does no I/O.
import type { ClusterNode } from "../cluster/node/presence.ts";
import { logData } from "./calls/log-data.ts";
import { warnOfLevel, warnUnwritable } from "./diagnostics/warnings.ts";
import { checkOptions } from "../base/options.ts";
import {
  type Implementation,
  isLogLevel,
  type LogLevel,
  type ServerCapabilities,
  type ToolSchema,
} from "../protocol/model.ts";
import { memoryWire } from "./memory-wire.ts";
import { logMessage } from "../protocol/notifications.ts";
import type { AnySchema, RawShape } from "../protocol/schema/compile.ts";
import type { RpcMessage, RpcResponse } from "../base/wire/message.ts";
import type { Wire } from "../base/wire/wire.ts";
import type { RequestStateOptions } from "./request-state/options.ts";
import type { RequestState } from "./request-state/request-state.ts";
import { checkImplementation } from "./settings/other-options.ts";
import { assemble } from "./assemble.ts";
import type { CompletionHandler } from "./catalogue/completers.ts";
import { checkHandler, type Registration } from "./catalogue/definition.ts";
import type { MethodDefinition, RequestHandler } from "./catalogue/methods.ts";
import type { PromptDefinition, PromptHandler, PromptOptions } from "./catalogue/prompts.ts";
import type { Handle } from "./catalogue/registry.ts";
import type {
  ResourceDefinition,
  ResourceHandler,
  ResourceOptions,
  TemplateDefinition,
  TemplateHandler,
  TemplateOptions,
} from "./catalogue/resources.ts";
import type { ToolDefinition, ToolHandler } from "./catalogue/tool-definition.ts";
import type { ToolOptions } from "./catalogue/tools.ts";
import { Collection, ResourceCollection } from "./catalogue/collections.ts";
import type { Exchange } from "./context/connection.ts";
import type { Core } from "./calls/core.ts";
import type { ClientNotificationHandler, NotificationSource } from "./calls/notifications.ts";
import type { SessionEnd } from "./diagnostics/events.ts";
import type { Extension } from "./catalogue/extensions.ts";
import {
  type AnyMiddleware,
  checkMiddlewareMethod,
  checkReachesNext,
  type MethodMiddleware,
  type Middleware,
  type RequestKinds,
} from "./calls/middleware.ts";
import type { ServerOptions } from "./options.ts";
import { refuseOtherServerNames } from "./other-names.ts";
import { openPort, type Servable, type ServerPort } from "./calls/port.ts";
import { knownLogOptions, type LogOptions, type Push } from "./push.ts";

/** What a server knows of the cluster that it is a node of. */
export interface ClusterView {
  /** The nodes that this one hears, itself included. Empty before the node has joined, and without a backplane. */
  nodes(): readonly ClusterNode[];
}

/**
 * An MCP server. Register definitions once, and serve them to any number of clients of any revision over any transport.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { serveStdio } from "halyard/stdio";
 * import * as z from "zod";
 *
 * const server = new McpServer({ name: "weather", version: "1.0.0" });
 * server.tool("forecast", { input: z.object({ city: z.string() }) }, ({ city }) => `21 °C in ${city}`);
 * await serveStdio(server);
 * ```
 */
export class McpServer<Extra extends object = object> implements Servable {
  /** The name and version of this server, as clients see them. */
  readonly info: Implementation;
  /** The registered tools: find one by its name, list or remove them. Clients learn of changes by themselves. */
  readonly tools: Collection<ToolOptions>;
  /** The registered prompts: find one by its name, list or remove them. Clients learn of changes by themselves. */
  readonly prompts: Collection<PromptOptions>;
  /** The registered resources, by URI. `updated(uri)` notifies the clients that have subscribed to a resource. */
  readonly resources: ResourceCollection<ResourceOptions>;
  /** The registered resource templates, by URI template. */
  readonly resourceTemplates: Collection<TemplateOptions>;
  /** Sends messages outside a call: to one session, to all sessions, or to subscribers. */
  readonly push: Push;
  /** The processes that serve together through `backplane`. */
  readonly cluster: ClusterView;
  readonly #core: Core;
  readonly #requestState: RequestState;
  readonly #port: ServerPort;

  static {
    refuseOtherServerNames(this.prototype);
  }

  constructor(info: Implementation, options: ServerOptions = {}) {
    checkImplementation(info);
    const parts = assemble(info, options);
    const { core, push } = parts;
    const { tools, prompts, resources, templates } = core.catalogue;
    this.info = info;
    this.tools = new Collection("tools", tools);
    this.prompts = new Collection("prompts", prompts);
    this.resources = new ResourceCollection(resources, push);
    this.resourceTemplates = new Collection("resourceTemplates", templates);
    this.push = push;
    this.cluster = { nodes: () => parts.cluster.nodes() };
    this.#core = core;
    this.#requestState = parts.requestState;
    this.#port = openPort(this, parts);
    for (const [identifier, settings] of Object.entries(options.capabilities?.extensions ?? {}))
      this.extension(identifier, { settings: { ...settings } });
  }

  /**
   * Registers a tool. Throws a `ConfigurationError` that names the tool and the field if its name or a schema is invalid.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   * import * as z from "zod";
   *
   * const server = new McpServer({ name: "weather", version: "1.0.0" });
   * server.tool(
   *   "forecast",
   *   { description: "The weather in a city", input: z.object({ city: z.string() }) },
   *   ({ city }) => `21 °C in ${city}`,
   * );
   * ```
   */
  tool<I extends AnySchema | RawShape = AnySchema, O extends AnySchema | RawShape = AnySchema, Given = never>(
    name: string,
    definition: ToolDefinition<I, O>,
    handler: ToolHandler<I, O, Extra, Given>,
  ): Handle<Partial<ToolDefinition<I, O> & { readonly handler: ToolHandler<I, O, Extra> }>>;
  tool(...given: Registration): Handle {
    return this.#core.catalogue.tools.add(...given);
  }

  /** Registers the resource at `uri`. */
  resource(
    uri: string,
    definition: ResourceDefinition,
    handler: ResourceHandler<Extra>,
  ): Handle<Partial<ResourceDefinition & { readonly handler: ResourceHandler<Extra> }>>;
  resource(...given: Registration): Handle {
    return this.#core.catalogue.resources.add(...given);
  }

  /** Registers a template (RFC 6570) for all resources whose URI matches it. */
  resourceTemplate<const Template extends string>(
    template: Template,
    definition: TemplateDefinition<Extra>,
    handler: TemplateHandler<Template, Extra>,
  ): Handle<Partial<TemplateDefinition<Extra> & { readonly handler: TemplateHandler<Template, Extra> }>>;
  resourceTemplate(...given: Registration): Handle {
    return this.#core.catalogue.templates.add(...given);
  }

  /** Registers a prompt. */
  prompt<A extends AnySchema | RawShape = AnySchema>(
    name: string,
    definition: PromptDefinition<A, Extra>,
    handler: PromptHandler<A, Extra>,
  ): Handle<Partial<PromptDefinition<A, Extra> & { readonly handler: PromptHandler<A, Extra> }>>;
  prompt(...given: Registration): Handle {
    return this.#core.catalogue.prompts.add(...given);
  }

  /** Completes arguments in one place. If the handler returns undefined, the argument's own completer runs. */
  completion(handler: CompletionHandler<Extra>): this {
    const remedy = ": for one argument, set complete in the definition of its prompt";
    checkHandler("completion", handler, typeof handler === "string" ? remedy : "");
    this.#core.catalogue.completion = handler as CompletionHandler;
    return this;
  }

  /**
   * Registers a method of your own, for clients of every revision. Its name must not be one of the protocol's: begin it with
   * your own prefix, as in `acme/search`. Middleware sees it like any other request, and no capability announces it.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   * import * as z from "zod";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" });
   * const params = z.object({ query: z.string(), limit: z.number().default(10) });
   * const result = z.object({ items: z.array(z.string()) });
   * server.method("acme/search", { params, result }, async ({ query, limit }, ctx) => {
   *   await ctx.notify("acme/searchProgress", { stage: "start" });
   *   return { items: Array.from({ length: limit }, (_, at) => `${query}-${at}`) };
   * });
   * ```
   */
  method<P extends AnySchema | RawShape = AnySchema, R extends AnySchema | RawShape = AnySchema>(
    name: string,
    definition: MethodDefinition<P, R>,
    handler: RequestHandler<P, R, Extra>,
  ): Handle<Partial<MethodDefinition<P, R> & { readonly handler: RequestHandler<P, R, Extra> }>>;
  method(...given: Registration): Handle {
    return this.#core.catalogue.methods.add(...given);
  }

  /** Adds an extension of the protocol, by default for modern clients that declare it. */
  extension(identifier: string, extension: Extension = {}): this {
    this.#core.catalogue.addExtension(identifier, extension);
    return this;
  }

  /**
   * Sets how the server seals request state, which a modern client carries while it answers questions. Replaces earlier
   * options. Without it, the server uses a random key of this process, which is enough if you run one process.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" });
   * const key = process.env["REQUEST_STATE_KEY"] ?? "a secret of 32 bytes or more, from a vault";
   * server.secureRequestState({ keys: [key], ttlMs: 300_000, singleUse: true });
   * ```
   */
  secureRequestState(options: RequestStateOptions): this {
    this.#requestState.configure(options);
    return this;
  }

  /**
   * Runs a function around every request, or around those of one method. The members that it passes to `next` appear on `ctx`.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" })
   *   .use<{ requestedAt: number }>((request, ctx, next) => next({ requestedAt: Date.now() }))
   *   .use("tools/call", async (request, ctx, next) => {
   *     console.error(`${request.params.name} for ${ctx.principal?.subject ?? "anybody"}`);
   *     return next();
   *   });
   * server.tool("age", {}, (_, ctx) => `${Date.now() - ctx.requestedAt} ms`);
   * ```
   */
  use<Added extends object = object>(middleware: Middleware<Extra, Added>): McpServer<Extra & Added>;
  use<Method extends keyof RequestKinds>(method: Method, middleware: MethodMiddleware<Method, Extra>): this;
  use(first: unknown, second?: unknown): unknown {
    const [method, run] = typeof first === "string" ? [first, second] : [undefined, first];
    checkHandler("use", run);
    if (method === undefined) checkReachesNext(run as AnyMiddleware);
    else checkMiddlewareMethod(method);
    this.#core.middlewares.add(run as AnyMiddleware, method);
    return this;
  }

  /**
   * Sends a log message outside a call: to all legacy sessions that want messages of that level, or to one session. Resolves
   * with their number. Modern clients get log messages only within a call, from `ctx.log`.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" });
   * await server.log("warning", { disk: "almost full" }, { logger: "storage" });
   * ```
   */
  async log(level: LogLevel, data: unknown, options: LogOptions = {}): Promise<number> {
    checkOptions({ subject: "server.log" }, options, knownLogOptions);
    const { logger: ownLog } = this.#port;
    if (!isLogLevel(level)) {
      warnOfLevel(ownLog, "server.log", level);
      return 0;
    }
    const { session, logger } = options;
    const sent = logData(ownLog, "server.log", data);
    if (sent === undefined) return 0;
    const params = { level, logger, data: sent };
    try {
      if (session === undefined) return await this.push.broadcast(logMessage, params);
      return (await this.push.toSession(session, logMessage, params)) ? 1 : 0;
    } catch (error) {
      warnUnwritable(ownLog, logMessage, error);
      return 0;
    }
  }

  /** Called with every notification that a client sends. */
  onNotification(handler: ClientNotificationHandler): this {
    checkHandler("onNotification", handler);
    this.#core.observers.notification = handler;
    return this;
  }

  /** Called when a legacy client reports that its roots have changed. */
  onRootsChanged(handler: (from: NotificationSource) => void | Promise<void>): this {
    checkHandler("onRootsChanged", handler);
    this.#core.observers.rootsChanged = handler;
    return this;
  }

  /** Called when a legacy client sends `notifications/initialized`. Modern clients never do. */
  onInitialized(handler: (client: NotificationSource) => void | Promise<void>): this {
    checkHandler("onInitialized", handler);
    this.#core.observers.initialized = handler;
    return this;
  }

  /**
   * Called once for each legacy session that ends in this process, with the reason: its client closed the pipe or disconnected,
   * deleted it, was idle for too long, and so on. If the process stops, another process may continue the session. With a
   * backplane, one node calls it when a session over HTTP has ended everywhere, and not when a node stops.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" });
   * const drafts = new Map<string, string>();
   * server.onSessionClosed((client, reason) => {
   *   console.error(`${client.client?.name} has gone: ${reason}`);
   *   drafts.delete(client.session ?? "");
   * });
   * ```
   */
  onSessionClosed(handler: (client: NotificationSource, reason: SessionEnd) => void | Promise<void>): this {
    checkHandler("onSessionClosed", handler);
    this.#core.observers.sessionClosed = handler;
    return this;
  }

  /** Returns the capabilities that clients of that revision see, over a transport that can push. */
  capabilities(revision?: string): ServerCapabilities {
    const { revisions, mode } = this.#port;
    const found = revision === undefined ? revisions.newest : revisions.find(revision);
    if (!found) throw new RangeError(`This server does not support protocol revision ${revision}`);
    const canPush = found.era === "modern" || mode !== "stateless";
    return this.#core.features.capabilities(found, canPush);
  }

  /** Returns the published input schema of a tool, or undefined if there is no such tool. */
  toolInputSchema(name: string): ToolSchema | undefined {
    return this.#core.catalogue.tools.find(name)?.inputSchema;
  }

  /** Answers one message. Resolves with undefined for a notification, or for a call that was cancelled. */
  handle(message: RpcMessage, exchange: Exchange): Promise<RpcResponse | undefined> {
    return this.#port.handle(message, exchange);
  }

  /** Answers the text of one message or batch. Without an exchange, the message has no session and cannot send notifications. */
  handleRaw(text: string, exchange?: Exchange): Promise<string | undefined> {
    return this.#port.handleRaw(text, exchange);
  }

  /**
   * Opens a wire in memory to this server, as `connect(server)` of `halyard/client` does. Each wire is one client, which counts as
   * the user that this process works for.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" });
   * const wire = server.openWire();
   * wire.onMessage = (text) => console.log(text);
   * await wire.send('{"jsonrpc":"2.0","id":1,"method":"ping"}');
   * await wire.close();
   * ```
   */
  openWire(): Wire {
    return memoryWire(this.#port);
  }
}
