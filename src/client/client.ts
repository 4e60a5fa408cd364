// The client of one server, as its user calls it. Each method takes a few lines over the calls and the features of the client.
import { AsyncClosing } from "../base/async/ending.ts";
import { type Later, later } from "../base/async/later.ts";
import type { CompletionReference, Implementation, LogLevel, ServerCapabilities } from "../protocol/model.ts";
import type { RevisionDate } from "../protocol/revision.ts";
import type { JsonObject } from "../base/wire/message.ts";
import type { CallSender } from "./calls/calls.ts";
import type { CoreRequestOptions } from "./calls/core.ts";
import type { Logging } from "./calls/logging.ts";
import type { ClientMiddleware } from "./calls/middleware.ts";
import type { AnyTools, ToolArguments, ToolResultOf, ToolTypes } from "./calls/tool-types.ts";
import type { ServerCatalogue } from "./catalogue/catalogue.ts";
import type { ListKind } from "./catalogue/kinds.ts";
import type { ListPage } from "./catalogue/lists.ts";
import { beginBudget } from "./channel/channel.ts";
import type { ServerConnection } from "./connection/connection.ts";
import type { ListenFilter } from "./listening/filter.ts";
import type { Listening, ListenOptions, OnChange } from "./listening/listening.ts";
import type { Listenings } from "./listening/listenings.ts";
import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from "./settings/received.ts";
import { errorCodes } from "../base/errors.ts";
import { checkMade, refuseOtherClientNames, refuseText } from "./other-names.ts";
import {
  checkArgumentName,
  checkCall,
  checkListener,
  checkMiddleware,
  checkParams,
  checkReference,
  checkUri,
} from "./settings/arguments.ts";
import { checkCallOptions } from "./settings/checks.ts";
import { RpcRejection, ToolCallError } from "./settings/errors.ts";
import type { ClientSettings } from "./settings/options.ts";
import { areTasksRequested, type Remembered } from "./settings/server-facts.ts";
import type { ClientState } from "./settings/events.ts";
import type { StoredTask, TaskHandle } from "./tasks/handle.ts";
import type { ClientTasks } from "./tasks/tasks.ts";
import {
  type CallOptions,
  type CompleteOptions,
  knownCompleteOptions,
  knownPageOptions,
  knownStartTaskOptions,
  type PageOptions,
  type StartTaskOptions,
} from "./settings/call-options.ts";
import { toToolResult } from "./calls/results.ts";

/** The parts of a client. */
export interface ClientParts {
  readonly connection: ServerConnection;
  readonly calls: CallSender;
  readonly logging: Logging;
  readonly catalogue: ServerCatalogue;
  readonly settings: ClientSettings;
}

/**
 * A client of one server. {@link connect} returns one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * const client = await connect(server);
 * const { content } = await client.callTool("hello");
 * await client.close();
 * ```
 */
export class McpClient<Tools extends ToolTypes<Tools> = AnyTools> extends AsyncClosing {
  readonly #connection: ServerConnection;
  readonly #calls: CallSender;
  readonly #logging: Logging;
  readonly #settings: ClientSettings;
  readonly #catalogue: ServerCatalogue;
  readonly #tasks: Later<ClientTasks>;
  readonly #listenings: Later<Listenings>;

  static {
    refuseOtherClientNames(this.prototype);
  }

  /** @internal */
  constructor({ connection, calls, logging, catalogue, settings }: ClientParts = {} as never) {
    super();
    checkMade(connection);
    this.#connection = connection;
    this.#calls = calls;
    this.#logging = logging;
    this.#settings = settings;
    this.#catalogue = catalogue;
    this.#tasks = later(
      () => import("./tasks/tasks.ts"),
      ({ ClientTasks }) => {
        const { answers } = calls;
        const finish = this.#finish.bind(this);
        return new ClientTasks({ core: calls, answers, catalogue, finish });
      },
    );
    this.#listenings = later(
      () => import("./listening/listenings.ts"),
      ({ Listenings }) => new Listenings(calls, settings),
    );
  }

  /** The revision that the client and the server speak. */
  get revision(): RevisionDate {
    return this.#calls.peer.revision.date;
  }

  /** `modern`: every request stands alone (2026-07-28 and later); `legacy`: a handshake came first. */
  get era(): "modern" | "legacy" {
    return this.#calls.peer.revision.era;
  }

  /** The name and version of the server, if it sends them. */
  get server(): Implementation | undefined {
    return this.#calls.peer.server;
  }

  /** The capabilities of the server. */
  get capabilities(): ServerCapabilities {
    return this.#calls.peer.capabilities;
  }

  /** How to use the server, for the model. */
  get instructions(): string | undefined {
    return this.#calls.peer.instructions;
  }

  get state(): ClientState {
    return this.#connection.state;
  }

  /** Calls `callback` when the state changes. Returns the function that ends it. */
  on(event: "state", callback: (state: ClientState) => void): () => void {
    checkListener(event, callback);
    return this.#connection.onState(callback);
  }

  /** Adds middleware, which runs around every later request; the first one added is the outermost. */
  use(middleware: ClientMiddleware): this {
    checkMiddleware(middleware);
    this.#calls.use(middleware);
    return this;
  }

  /**
   * Calls a tool, and waits for its task if it runs as one. A result with `isError` is returned, unless `throwOnError` is set.
   */
  async callTool<Name extends keyof Tools & string>(
    name: Name,
    ...given: ToolArguments<Tools[Name]>
  ): Promise<ToolResultOf<Tools[Name]>> {
    const [args, options] = given;
    checkCall("callTool", name, given);
    checkCallOptions("callTool", options);
    const whole = { ...options, budget: beginBudget() };
    const params = { name, arguments: args as JsonObject | undefined };
    let result: JsonObject;
    try {
      result = areTasksRequested(this.#calls.peer)
        ? await (await this.#tasks.get()).call(params, whole)
        : await this.#catalogue.toolCalls.request(params, whole);
    } catch (error) {
      const mayBeMisnamed = error instanceof RpcRejection && error.code === errorCodes.invalidParams;
      throw mayBeMisnamed ? await this.#catalogue.toolCalls.suggest(name, error, whole) : error;
    }
    if (result["resultType"] === "task") result = await (await this.#tasks.get()).finish(name, result, whole);
    const checked = this.#finish(name, result, whole);
    return (checked instanceof Promise ? await checked : checked) as ToolResultOf<Tools[Name]>;
  }

  /** Calls a tool as a task, and resolves with its handle as soon as the server has created it. */
  async startTask<Name extends keyof Tools & string>(
    name: Name,
    args?: ToolArguments<Tools[Name]>[0],
    options?: StartTaskOptions,
  ): Promise<TaskHandle> {
    checkCall("startTask", name, [args]);
    checkCallOptions("startTask", options, knownStartTaskOptions);
    const tasks = await this.#tasks.get();
    const whole = { ...options, budget: beginBudget() };
    return tasks.start({ name, arguments: args as JsonObject | undefined }, whole);
  }

  /** Continues a task that was stored as JSON, by this client or another one of the same user. */
  async task(stored: StoredTask): Promise<TaskHandle> {
    return (await this.#tasks.get()).take(stored);
  }

  /** Lists all tools. The list and its entries are frozen. */
  async listTools(options?: CallOptions): Promise<Tool[]> {
    checkCallOptions("listTools", options);
    return this.#catalogue.lists.all("tools", options);
  }

  /** Iterates over the tools; the next page is requested when it is needed. */
  eachTool(options?: CallOptions): AsyncIterable<Tool> {
    checkCallOptions("eachTool", options);
    return this.#catalogue.lists.each("tools", options);
  }

  /** Lists all prompts. The list and its entries are frozen. */
  async listPrompts(options?: CallOptions): Promise<Prompt[]> {
    checkCallOptions("listPrompts", options);
    return this.#catalogue.lists.all("prompts", options);
  }

  /** Iterates over the prompts; the next page is requested when it is needed. */
  eachPrompt(options?: CallOptions): AsyncIterable<Prompt> {
    checkCallOptions("eachPrompt", options);
    return this.#catalogue.lists.each("prompts", options);
  }

  /** Lists all resources. The list and its entries are frozen. */
  async listResources(options?: CallOptions): Promise<Resource[]> {
    checkCallOptions("listResources", options);
    return this.#catalogue.lists.all("resources", options);
  }

  /** Iterates over the resources; the next page is requested when it is needed. */
  eachResource(options?: CallOptions): AsyncIterable<Resource> {
    checkCallOptions("eachResource", options);
    return this.#catalogue.lists.each("resources", options);
  }

  /** Lists all resource templates. The list and its entries are frozen. */
  async listResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    checkCallOptions("listResourceTemplates", options);
    return this.#catalogue.lists.all("resourceTemplates", options);
  }

  /** Iterates over the resource templates; the next page is requested when it is needed. */
  eachResourceTemplate(options?: CallOptions): AsyncIterable<ResourceTemplate> {
    checkCallOptions("eachResourceTemplate", options);
    return this.#catalogue.lists.each("resourceTemplates", options);
  }

  /**
   * Requests one page of a list, the first one if there is no `cursor`. For all pages, use methods such as `listTools` or
   * `eachTool`.
   *
   * @example
   * ```ts
   * import { McpServer } from "halyard";
   * import { connect } from "halyard/client";
   *
   * const server = new McpServer({ name: "demo", version: "1.0.0" });
   * server.tool("hello", {}, () => "Hello");
   * const client = await connect(server);
   * const { tools, nextCursor } = await client.page("tools");
   * if (nextCursor !== undefined) tools.concat((await client.page("tools", { cursor: nextCursor })).tools);
   * await client.close();
   * ```
   */
  async page<Kind extends ListKind>(list: Kind, options?: PageOptions): Promise<ListPage<Kind>> {
    checkCallOptions("page", options, knownPageOptions);
    const { cursor, ...others } = options ?? {};
    return this.#catalogue.lists.page(list, cursor, others);
  }

  /** Gets a prompt, filled in with these arguments. */
  async getPrompt(
    name: string,
    args?: { readonly [name: string]: string },
    options?: CallOptions,
  ): Promise<GetPromptResult> {
    checkArgumentName("getPrompt", name, '{ topic: "rain" }');
    checkCallOptions("getPrompt", options);
    for (const [argument, value] of Object.entries(args ?? {}))
      if (typeof value !== "string")
        throw new TypeError(
          `getPrompt("${name}"): ${argument} must be a string, as all arguments of prompts`,
        );
    return this.#request("prompts/get", { name, arguments: args }, options);
  }

  /** Reads a resource. The result is frozen. */
  async readResource(uri: string | URL, options?: CallOptions): Promise<ReadResourceResult> {
    checkUri(uri);
    checkCallOptions("readResource", options);
    return this.#catalogue.readResource(String(uri), options);
  }

  /** Requests completions for an argument of a prompt or a variable of a resource template. */
  async complete(
    ref: CompletionReference,
    argument: { readonly name: string; readonly value: string },
    options?: CompleteOptions,
  ): Promise<CompleteResult> {
    checkReference(ref);
    checkCallOptions("complete", options, knownCompleteOptions);
    const { context, ...others } = options ?? {};
    const params = { ref, argument, ...(context && { context: { arguments: context } }) };
    return this.#request("completion/complete", params, others);
  }

  /** Resolves when the server has responded. */
  async ping(options?: CallOptions): Promise<void> {
    checkCallOptions("ping", options);
    const { requests } = this.#calls.peer.revision;
    await this.#calls.request(requests.has("ping") ? "ping" : "server/discover", undefined, options);
  }

  /** Sets the lowest level of log messages that `onLog` receives. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    checkCallOptions("setLogLevel", options);
    checkCallOptions("setLogLevel", { logLevel: level });
    await this.#logging.set(level, options);
  }

  /**
   * Listens for changes, the same on every revision, and subscribes again after the connection was lost. Pass `onChange`, or
   * iterate over the returned listening. A change whose cause is `gap` says that changes may have been missed: read again.
   *
   * @throws {HalyardError} if the server announces nothing that the filter requests
   */
  async listen(filter: ListenFilter, onChange?: OnChange, options?: ListenOptions): Promise<Listening> {
    return (await this.#listenings.get()).listen(filter, onChange, options);
  }

  /** Sends any request, and resolves with its result. Keys of your own in `_meta` follow the rules of MCP: `your.domain/name`, or a name alone. */
  async request(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject> {
    checkParams("request", method, params);
    checkCallOptions("request", options);
    return this.#calls.request(method, params, options);
  }

  /** Sends any notification. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    checkParams("notify", method, params);
    return this.#calls.notify(method, params);
  }

  /**
   * Tells the server that the roots have changed. Modern servers request the roots when they need them, so they get no message.
   */
  async rootsChanged(): Promise<void> {
    if (this.#calls.peer.revision.era === "legacy") await this.notify("notifications/roots/list_changed");
  }

  /**
   * Returns what the client knows of the server. Pass it to `connect` as `remembered`, to skip finding out the revision and which
   * arguments the server wants as headers.
   */
  remember(): Remembered {
    const { tools } = this.#catalogue;
    return { ...this.#connection.remember(), ...(tools && { tools }) };
  }

  /** Ends the connection. Waiting calls reject with `ConnectionLost`, reason `closed`. */
  close(): Promise<void> {
    return this.#calls.close();
  }

  /** The result of a tool as the user receives it. */
  #finish(
    name: string,
    result: JsonObject,
    options: CoreRequestOptions | undefined,
  ): CallToolResult | Promise<CallToolResult> {
    const { strict, throwOnError } = this.#settings;
    const whole = refuseText(toToolResult(name, result));
    if (whole.isError === true && (options?.throwOnError ?? throwOnError)) return this.#throw(name, whole);
    return this.#catalogue.toolCalls.check(name, whole, options?.strict ?? strict, options);
  }

  async #throw(name: string, result: CallToolResult): Promise<never> {
    throw new ToolCallError(name, await this.#calls.secrets.clean(result));
  }

  async #request<Result>(
    method: string,
    params: JsonObject,
    options: CallOptions | undefined,
  ): Promise<Result> {
    return (await this.#calls.request(method, params, options)) as Result;
  }
}
