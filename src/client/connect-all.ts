// Connects to several servers at once: targets by name, or the entries of a configuration file.
import { platform } from "#client-platform";
import { later } from "../async/later.ts";
import { ConfigurationError } from "../errors.ts";
import {
  isFunction,
  isPlain,
  isUrl,
  type Kind,
  type Known,
  options as optionsOf,
  problemOf,
} from "../kinds.ts";
import { checkOptions } from "../options.ts";
import { isObject } from "../wire/message.ts";
import type { McpClient } from "./client.ts";
import { McpClients } from "./clients.ts";
import { connect, type Target } from "./connect.ts";
import { namedOptions, type SharedOptions } from "./named-options.ts";
import type { ReadEntry, ServerEntry } from "./server-entries.ts";
import type { HeaderFields } from "./settings/auth.ts";
import { guarded, isAuthorization, knownConnectOptions, parsedFirst } from "./settings/checks.ts";
import type { ConnectOptions } from "./settings/options.ts";

/** What `connectAll` connects to, by name: targets as `connect` takes them, and entries of `mcpServers`. */
export interface ServerTargets {
  readonly [name: string]: Target | ServerEntry;
}

/** A whole configuration file: `.mcp.json` and those of Claude Desktop and Cursor have `mcpServers`, `mcp.json` of VS Code has `servers`. */
export type ServersFile = ({ readonly mcpServers: ServerTargets } | { readonly servers: ServerTargets }) & {
  readonly [field: string]: unknown;
};

/** Options for all servers, and others for some. */
export interface ConnectAllOptions extends SharedOptions {
  /**
   * Options of single servers, by name: they win over those for all, and over the entry of the server. Headers of all three are sent, but
   * `auth` or `Authorization` only of the first of these that has one: the options of the server, its entry, those for all.
   */
  readonly servers?: { readonly [name: string]: ConnectOptions } | undefined;
}

/** Most programs pass no entries. */
const entries = later(
  () => import("./server-entries.ts"),
  (module) => module,
);

/**
 * Connects to several servers at once. A server that cannot be reached, or whose entry is wrong, does not keep the others from working:
 * its outcome holds the error. Takes the `mcpServers` of `.mcp.json` and of other hosts as they are, and whole files.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connectAll } from "halyard/client";
 *
 * const notes = new McpServer({ name: "notes", version: "1.0.0" });
 * notes.tool("search", {}, () => "Nothing found");
 * const servers = await connectAll({ notes, files: { command: "no-such-command", args: ["${HOME}"] } });
 * for (const [name, outcome] of servers.outcomes) if (!outcome.ok) console.error(name, outcome.error);
 * const { tools } = await servers.tools();
 * console.log(tools.map(({ name }) => name), await servers.callTool("notes_search"));
 * await servers.close();
 * ```
 */
export async function connectAll(
  targets: ServerTargets | ServersFile,
  options: ConnectAllOptions = {},
): Promise<McpClients> {
  const wrong = problemOf(knownTargets, targets);
  if (wrong !== undefined)
    throw new ConfigurationError("INVALID_OPTION", { subject: "connectAll", field: "targets" }, wrong);
  const named = Object.entries(inFile(targets));
  const one = optionsOf(knownConnectOptions);
  const known: Known<ConnectAllOptions> = {
    ...knownConnectOptions,
    servers: optionsOf(Object.fromEntries(named.map(([name]) => [name, one]))),
  };
  checkOptions({ subject: "connectAll" }, options, known);
  const disabled = new Set<string>();
  const connects = new Map<string, () => Promise<McpClient>>();
  for (const [name, target] of named) {
    const isOff = isEntry(target) && (await takeEntry(name, target, options.observe));
    if (isOff) disabled.add(name);
    else connects.set(name, () => connectOne(name, target, options));
  }
  const clients = new McpClients(connects, disabled);
  await clients.retry();
  for (const outcome of clients.outcomes.values()) {
    if (outcome.ok || !(outcome.error instanceof ConfigurationError)) continue;
    if (outcome.error.subject === "connectAll") continue;
    // A mistake in the options, not in a server or its entry.
    await clients.close();
    throw outcome.error;
  }
  return clients;
}

const knownTargets: Kind = {
  is: (value) => isPlain(value) && !isOne(value),
  mustBe: "an object of servers by name, such as mcpServers of .mcp.json",
  remedy: (value) =>
    isOne(value) ? "this is one server: use connect(), or connectAll({ name: … })" : parsedFirst(value),
  isSecret: true,
};

function isOne(value: unknown): boolean {
  const { command, url, openWire } = Object(value) as { readonly [name: string]: unknown };
  return isUrl(value) || isFunction(openWire) || typeof (command ?? url) === "string";
}

/** The servers of a file; servers by name are returned as they are, even if one of them is named like a field of files. */
function inFile(given: ServerTargets | ServersFile): ServerTargets {
  for (const field of ["mcpServers", "servers"]) {
    const inner: unknown = Object.hasOwn(given, field) ? (given as ServerTargets)[field] : undefined;
    if (isEntry(inner) && typeof inner.url !== "string" && typeof inner.command !== "string")
      return inner as ServerTargets;
  }
  return given as ServerTargets;
}

function isEntry(target: unknown): target is ServerEntry {
  return isPlain(target) && !(target instanceof URL) && !("openWire" in target);
}

/** Says what is ignored of an entry. Returns whether the entry is disabled. */
async function takeEntry(
  name: string,
  entry: ServerEntry,
  observe: ConnectAllOptions["observe"],
): Promise<boolean> {
  if (entry.disabled === true) return true;
  const { ignoredOf } = await entries.get();
  const tell = observe && guarded(observe);
  for (const reason of ignoredOf(name, entry)) {
    if (tell) tell({ type: "ignored", reason, server: name });
    else console.warn(reason);
  }
  return false;
}

async function connectOne(
  name: string,
  given: Target | ServerEntry,
  { servers = {}, ...shared }: ConnectAllOptions,
): Promise<McpClient> {
  const own = Object.hasOwn(servers, name) ? servers[name] : undefined;
  const { target, headers: inEntry = {} } = await readTarget(name, given);
  const levels: Level[] = [shared, { headers: inEntry }, own ?? {}];
  const nearest = levels.findLast(hasCredentials);
  const headers = mergedHeaders(
    levels.map((level) => (level === nearest ? level.headers : withoutCredentials(level.headers))),
  );
  const { auth: _auth, headers: _headers, ...others } = { ...namedOptions(name, shared), ...own };
  const auth = nearest?.auth;
  const options = { ...others, ...(auth !== undefined && { auth }), ...(headers && { headers }) };
  try {
    return await connect(target, options);
  } catch (error) {
    throw (await entries.get()).ofEntry(name, error);
  }
}

async function readTarget(name: string, given: Target | ServerEntry): Promise<ReadEntry> {
  if (isEntry(given)) return (await entries.get()).readEntry(name, given, platform.variable);
  if (typeof given === "string" || isObject(given)) return { target: given as Target };
  const problem = "must be a URL, an McpServer, or an entry with url or command";
  throw new ConfigurationError("INVALID_OPTION", { subject: "connectAll", field: `"${name}"` }, problem);
}

/** What all servers, an entry, or the options of one server say about credentials. The nearest to the server that says something counts alone. */
type Level = Pick<ConnectOptions, "auth" | "headers">;

function hasCredentials({ auth, headers = {} }: Level): boolean {
  return auth !== undefined || Object.keys(headers).some(isAuthorization);
}

function withoutCredentials(headers: HeaderFields = {}): HeaderFields {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isAuthorization(name)));
}

/** Headers by name, in which case does not matter; later ones win. Undefined without any. */
function mergedHeaders(given: readonly (HeaderFields | undefined)[]): HeaderFields | undefined {
  const all = given.flatMap((headers) => Object.entries(headers ?? {}));
  const merged = new Map(all.map(([name, value]) => [name.toLowerCase(), [name, value] as const]));
  return merged.size === 0 ? undefined : Object.fromEntries(merged.values());
}
