// The clients of several servers: whether each connected, their tools in one list, and their changes.
import { AsyncClosing } from "../base/async/ending.ts";
import { later } from "../base/async/later.ts";
import { ConfigurationError } from "../base/errors.ts";
import type { CallToolResult, Tool } from "./settings/received.ts";
import type { JsonObject } from "../base/wire/message.ts";
import { closedError } from "./calls/calls.ts";
import type { McpClient } from "./client.ts";
import { namedCallOptions, type OnServerChange, type ServerCallOptions } from "./named-options.ts";
import { checkCallOptions } from "./settings/checks.ts";
import { toError } from "./settings/errors.ts";
import { refuseNamesOfOutcomes, refuseNamesOfSeveral, refuseServerNames } from "./other-names.ts";
import type { LiveServersListening, ServersFilter, ServersListening } from "./several-listening.ts";
import { fromPrefixed, prefixesOf, toPrefixed } from "./tool-names.ts";

/** The client of a server, or the error with which connecting failed. */
export type ServerOutcome =
  | { readonly ok: true; readonly client: McpClient; readonly durationMs: number }
  | { readonly ok: false; readonly error: Error; readonly durationMs: number };

/** A tool of one of several servers, whose `name` is prefixed. */
export interface ServerTool extends Tool {
  /** The name under which you connected to its server. */
  readonly server: string;
  /** Its name at the server. */
  readonly toolName: string;
}

/** The tools of all servers that responded, and the errors of the others. */
export interface ServerTools {
  readonly tools: readonly ServerTool[];
  readonly errors: ReadonlyMap<string, Error>;
}

const listenings = later(
  () => import("./several-listening.ts"),
  ({ LiveServersListening }) => LiveServersListening,
);

/**
 * The clients of several servers. {@link connectAll} returns one.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connectAll } from "halyard/client";
 *
 * const notes = new McpServer({ name: "notes", version: "1.0.0" });
 * notes.tool("search", {}, () => "Nothing found");
 * const servers = await connectAll({ notes });
 * await servers.client("notes").ping();
 * const { content } = await servers.callTool("notes_search");
 * await servers.close();
 * ```
 */
export class McpClients extends AsyncClosing {
  readonly #connects: ReadonlyMap<string, () => Promise<McpClient>>;
  readonly #disabled: ReadonlySet<string>;
  /** The prefix of the tool names of each server. */
  readonly #prefixes: ReadonlyMap<string, string>;
  readonly #listenings = new Set<LiveServersListening>();
  readonly #outcomes = new Map<string, ServerOutcome>();
  /** The tools of each server when they were listed last, by prefixed name. */
  readonly #listed = new Map<string, ReadonlyMap<string, ServerTool>>();
  #isClosed = false;
  #retrying: Promise<void> | undefined;

  static {
    refuseNamesOfSeveral(this.prototype);
  }

  /** @internal */
  constructor(connects: ReadonlyMap<string, () => Promise<McpClient>>, disabled: ReadonlySet<string>) {
    super();
    this.#connects = connects;
    this.#disabled = disabled;
    this.#prefixes = prefixesOf([...connects.keys()]);
    refuseServerNames(this, connects.keys());
    refuseNamesOfOutcomes(this.#outcomes, connects.keys());
  }

  /** The client or the error of each server, and how long connecting took. */
  get outcomes(): ReadonlyMap<string, ServerOutcome> {
    return this.#outcomes;
  }

  /** The client of one server. Throws its error if it could not connect. */
  client(name: string): McpClient {
    const outcome = this.#outcomes.get(name);
    if (outcome?.ok) return outcome.client;
    if (outcome) throw outcome.error;
    throw this.#unknown(name);
  }

  /** Connects again to the servers that failed, and to servers with a closed client, such as a stdio server that ended. */
  retry(): Promise<void> {
    return (this.#retrying ??= this.#retry().finally(() => (this.#retrying = undefined)));
  }

  /**
   * Listens for changes of the lists of all servers, the same on every revision, and says which server each is from. A change whose
   * cause is `gap` says that changes may have been missed: read again. Servers that {@link retry} connects later are included.
   */
  async listen(filter: ServersFilter, onChange: OnServerChange): Promise<ServersListening> {
    if (this.#isClosed) throw closedError();
    const Listening = await listenings.get();
    const listening = new Listening(filter, onChange, () => void this.#listenings.delete(listening));
    this.#listenings.add(listening);
    await Promise.all(
      [...this.#outcomes].map(async ([name, outcome]) => {
        if (outcome.ok) await listening.add(name, outcome.client);
        else listening.errors.set(name, outcome.error);
      }),
    );
    return listening;
  }

  /**
   * Lists the tools of all servers. Each has the name under which you connected as its prefix (`notes_search`); a name that would exceed
   * 64 letters, digits, `_` and `-`, or has other characters, is rewritten, always to the same one.
   */
  async tools(options?: ServerCallOptions): Promise<ServerTools> {
    checkCallOptions("tools", options);
    if (this.#isClosed) throw closedError();
    const errors = new Map<string, Error>();
    const lists = [...this.#connects.keys()].map((server) =>
      this.#toolsOf(server, options).catch((error: unknown) => void errors.set(server, toError(error))),
    );
    const tools = (await Promise.all(lists)).flatMap((list) => Array.from(list?.values() ?? []));
    return { tools, errors };
  }

  /** Calls a tool by its prefixed name. */
  async callTool(name: string, args?: JsonObject, options?: ServerCallOptions): Promise<CallToolResult> {
    checkCallOptions("callTool", options);
    const found = fromPrefixed(this.#prefixes, name);
    if (!found) {
      const begin = [...this.#prefixes.values()].map((prefix) => `${prefix}_`).join(", ");
      const problem = `is of no server: pass a name that tools() returns, which begins with one of ${begin}`;
      throw new ConfigurationError("INVALID_NAME", { subject: "callTool", field: `"${name}"` }, problem);
    }
    const { server } = found;
    const tool = found.tool ?? (await this.#fullName(server, name));
    return this.client(server).callTool(tool, args, namedCallOptions(server, options));
  }

  /** Closes all clients. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#outcomes.values()].flatMap((outcome) => (outcome.ok ? [outcome.client] : []));
    await Promise.all(open.map((client) => client.close()));
  }

  async #retry(): Promise<void> {
    if (this.#isClosed) return;
    const failed = [...this.#connects].filter(([name]) => !this.#isUp(name));
    const outcomes = await Promise.all(failed.map(([, connectThis]) => timed(connectThis)));
    failed.forEach(([name], index) => this.#outcomes.set(name, outcomes[index]!));
    if (this.#isClosed) return this.close();
    const late = failed.flatMap(([name], index) => {
      const outcome = outcomes[index]!;
      return outcome.ok
        ? [...this.#listenings].map((listening) => listening.addLate(name, outcome.client))
        : [];
    });
    await Promise.all(late);
  }

  /** Whether the client of a server is open, or will reconnect. */
  #isUp(name: string): boolean {
    const outcome = this.#outcomes.get(name);
    return outcome?.ok === true && outcome.client.state.name !== "closed";
  }

  async #toolsOf(server: string, options?: ServerCallOptions): Promise<ReadonlyMap<string, ServerTool>> {
    const tools = new Map<string, ServerTool>();
    const prefix = this.#prefixes.get(server) as string;
    for (const tool of await this.client(server).listTools(namedCallOptions(server, options))) {
      const name = toPrefixed(prefix, tool.name);
      if (!tools.has(name)) tools.set(name, { ...tool, name, server, toolName: tool.name });
    }
    this.#listed.set(server, tools);
    return tools;
  }

  #unknown(name: string): ConfigurationError {
    const known = [...this.#connects.keys()].join(", ");
    const isOff = this.#disabled.has(name);
    const problem = isOff ? "is disabled in its entry" : `names no server: choose from ${known}`;
    return new ConfigurationError("INVALID_NAME", { subject: "client", field: `"${name}"` }, problem);
  }

  /** The full name of a tool whose prefixed name was shortened. */
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
    return { ok: false, error: toError(error), durationMs: took() };
  }
}
