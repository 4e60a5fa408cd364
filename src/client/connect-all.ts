// Connects to several servers at once, and offers their tools under one roof.
import { AsyncClosing } from "../async/disposal.ts";
import { ConfigurationError } from "../errors.ts";
import { type Known, options as optionsOf } from "../kinds.ts";
import { checkOptions } from "../options.ts";
import type { CallToolResult, Tool } from "../protocol/model.ts";
import type { JsonObject } from "../wire/message.ts";
import type { McpClient } from "./client.ts";
import { connect, type Target } from "./connect.ts";
import { checkCallOptions, knownConnectOptions } from "./settings/checks.ts";
import type { CallOptions, ConnectOptions } from "./settings/options.ts";
import { checkServerNames, fromPrefixed, toPrefixed } from "./tool-names.ts";

/** Options for all servers, and others for some. */
export interface ConnectAllOptions extends ConnectOptions {
  /** Options of single servers, by name: they win over those for all. */
  readonly servers?: { readonly [name: string]: ConnectOptions };
}

/** What became of connecting to one server. */
export type ServerOutcome =
  | { readonly ok: true; readonly client: McpClient; readonly durationMs: number }
  | { readonly ok: false; readonly error: unknown; readonly durationMs: number };

/** A tool of one of several servers, whose `name` is prefixed. */
export interface ServerTool extends Tool {
  /** The name under which you connected to its server. */
  readonly server: string;
  /** Its name at the server. */
  readonly toolName: string;
}

/** The tools of all servers that could be asked, and why the others could not. */
export interface ServerTools {
  readonly tools: readonly ServerTool[];
  readonly errors: ReadonlyMap<string, unknown>;
}

/**
 * Connects to several servers at once. A server that cannot be reached does not keep the others from working: its outcome holds the
 * error.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connectAll } from "halyard/client";
 *
 * const notes = new McpServer({ name: "notes", version: "1.0.0" });
 * notes.tool("search", {}, () => "Nothing found");
 * await using servers = await connectAll({ notes, files: { command: "no-such-command" } });
 * for (const [name, outcome] of servers.outcomes) if (!outcome.ok) console.error(name, outcome.error);
 * const { tools } = await servers.tools();
 * console.log(tools.map(({ name }) => name), await servers.callTool("notes_search"));
 * ```
 */
export async function connectAll(
  targets: { readonly [name: string]: Target },
  options: ConnectAllOptions = {},
): Promise<McpClients> {
  const names = Object.keys(targets);
  checkServerNames(names);
  const one = optionsOf(knownConnectOptions);
  const known: Known<ConnectAllOptions> = {
    ...knownConnectOptions,
    servers: optionsOf(Object.fromEntries(names.map((name) => [name, one]))),
  };
  checkOptions({ subject: "connectAll" }, options, known);
  const { servers = {}, ...shared } = options;
  const clients = new McpClients(
    new Map(names.map((name) => [name, () => connect(targets[name]!, { ...shared, ...servers[name] })])),
  );
  await clients.retry();
  for (const outcome of clients.outcomes.values()) {
    if (outcome.ok || !(outcome.error instanceof ConfigurationError)) continue;
    // A mistake in the program, not in a server.
    await clients.close();
    throw outcome.error;
  }
  return clients;
}

/**
 * The clients of several servers. {@link connectAll} makes one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connectAll } from "halyard/client";
 *
 * const notes = new McpServer({ name: "notes", version: "1.0.0" });
 * notes.tool("search", {}, () => "Nothing found");
 * await using servers = await connectAll({ notes });
 * await servers.client("notes").ping();
 * const { content } = await servers.callTool("notes_search");
 * ```
 */
export class McpClients extends AsyncClosing {
  readonly #connects: ReadonlyMap<string, () => Promise<McpClient>>;
  readonly #outcomes = new Map<string, ServerOutcome>();
  /** The tools of each server when they were listed last, by prefixed name. */
  readonly #listed = new Map<string, ReadonlyMap<string, ServerTool>>();
  #isClosed = false;

  /** @internal */
  constructor(connects: ReadonlyMap<string, () => Promise<McpClient>>) {
    super();
    this.#connects = connects;
  }

  /** What became of connecting to each server, and how long it took. */
  get outcomes(): ReadonlyMap<string, ServerOutcome> {
    return this.#outcomes;
  }

  /** The client of one server. Throws its error if it could not connect. */
  client(name: string): McpClient {
    const outcome = this.#outcomes.get(name);
    if (outcome?.ok) return outcome.client;
    if (outcome) throw outcome.error;
    throw unknownServer("client", name, this.#connects);
  }

  /** Tries again to connect to the servers that failed. */
  async retry(): Promise<void> {
    const failed = [...this.#connects].filter(([name]) => this.#outcomes.get(name)?.ok !== true);
    const outcomes = await Promise.all(failed.map(([, connectOne]) => timed(connectOne)));
    failed.forEach(([name], index) => this.#outcomes.set(name, outcomes[index]!));
    if (this.#isClosed) await this.close();
  }

  /**
   * Lists the tools of all servers. Each has the name under which you connected as its prefix (`notes_search`); a name that would exceed
   * 64 letters, digits, `_` and `-` is shortened, always to the same one.
   */
  async tools(options?: CallOptions): Promise<ServerTools> {
    checkCallOptions("tools", options);
    const errors = new Map<string, unknown>();
    const lists = [...this.#connects.keys()].map((server) =>
      this.#toolsOf(server, options).catch((error: unknown) => void errors.set(server, error)),
    );
    const tools = (await Promise.all(lists)).flatMap((list) => Array.from(list?.values() ?? []));
    return { tools, errors };
  }

  /** Calls a tool by its prefixed name. */
  async callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult> {
    const found = fromPrefixed(this.#connects.keys(), name);
    if (!found) throw unknownServer("callTool", name, this.#connects);
    const tool = found.tool ?? (await this.#fullName(found.server, name));
    return this.client(found.server).callTool(tool, args, options);
  }

  /** Closes all clients. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#outcomes.values()].flatMap((outcome) => (outcome.ok ? [outcome.client] : []));
    await Promise.all(open.map((client) => client.close()));
  }

  async #toolsOf(server: string, options?: CallOptions): Promise<ReadonlyMap<string, ServerTool>> {
    const tools = new Map<string, ServerTool>();
    for (const tool of await this.client(server).listTools(options)) {
      const name = toPrefixed(server, tool.name);
      if (!tools.has(name)) tools.set(name, { ...tool, name, server, toolName: tool.name });
    }
    this.#listed.set(server, tools);
    return tools;
  }

  /** The name of a tool whose prefixed name was shortened. */
  async #fullName(server: string, name: string): Promise<string> {
    const tool = this.#listed.get(server)?.get(name) ?? (await this.#toolsOf(server)).get(name);
    if (tool) return tool.toolName;
    throw new ConfigurationError(
      "INVALID_NAME",
      { subject: "callTool", field: name },
      `is not a tool of ${server}`,
    );
  }
}

async function timed(connectOne: () => Promise<McpClient>): Promise<ServerOutcome> {
  const start = performance.now();
  const took = (): number => Math.round(performance.now() - start);
  try {
    const client = await connectOne();
    return { ok: true, client, durationMs: took() };
  } catch (error) {
    return { ok: false, error, durationMs: took() };
  }
}

function unknownServer(
  subject: string,
  name: string,
  servers: ReadonlyMap<string, unknown>,
): ConfigurationError {
  const known = [...servers.keys()].join(", ");
  return new ConfigurationError(
    "INVALID_NAME",
    { subject, field: `"${name}"` },
    `names no server: choose from ${known}`,
  );
}
