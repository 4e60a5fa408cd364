// Connects to several servers at once: targets by name, or the entries of a configuration file.
import { platform } from "#client-platform";
import { later } from "../base/async/later.ts";
import { ConfigurationError } from "../base/errors.ts";
import {
  hasMethods,
  isFunction,
  isPlain,
  isUrl,
  type Kind,
  type Known,
  mismatch,
  options as optionsOf,
  problemOf,
} from "../base/kinds.ts";
import { checkOptions } from "../base/options.ts";
import type { McpClient } from "./client.ts";
import { McpClients } from "./clients.ts";
import { connect, type Target } from "./connect.ts";
import { awaitedFirst } from "./other-names.ts";
import { namedOptions, type SharedOptions } from "./named-options.ts";
import type { ReadEntry, ServerEntry } from "./server-entries.ts";
import { type HeaderFields, isAuthorization } from "./settings/auth.ts";
import { otherOption } from "./settings/checks.ts";
import { type ConnectOptions, knownConnectOptions } from "./settings/options.ts";
import { parsedFirst } from "./settings/server-facts.ts";
import { guarded, tellIgnored } from "./settings/events.ts";

/** The servers that `connectAll` connects to, by name: targets of `connect`, and entries of `mcpServers`. */
export interface ServerTargets {
  readonly [name: string]: Target | ServerEntry;
}

/** A whole configuration file: `.mcp.json` and those of Claude Desktop and Cursor have `mcpServers`, `mcp.json` of VS Code has `servers`. */
export type ServersFile = ({ readonly mcpServers: ServerTargets } | { readonly servers: ServerTargets }) & {
  readonly [field: string]: unknown;
};

/** Options for all servers, and options for single ones. */
export interface ConnectAllOptions extends SharedOptions {
  /**
   * Options of single servers, by name. They override the options for all servers and the entry of the server. Headers of all
   * three are sent; `auth` or `Authorization` is taken from the first that has one: the options of the server, its entry, the
   * options for all.
   */
  readonly servers?: { readonly [name: string]: ConnectOptions } | undefined;
}

/** Loaded on first use, because most programs pass no entries. */
const entries = later(
  () => import("./server-entries.ts"),
  (module) => module,
);

/**
 * Connects to several servers at once. If a server cannot be reached, or its entry is wrong, the others still work, and its
 * outcome holds the error. Takes the `mcpServers` of `.mcp.json` and of other hosts as they are, and whole files.
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
export function connectAll(
  targets: ServerTargets | ServersFile,
  options: ConnectAllOptions = {},
): Promise<McpClients> {
  return awaitedFirst(openAll(targets, options), "connectAll", McpClients);
}

async function openAll(
  targets: ServerTargets | ServersFile,
  options: ConnectAllOptions,
): Promise<McpClients> {
  const wrong = problemOf(knownTargets, targets);
  if (wrong !== undefined)
    throw new ConfigurationError("INVALID_OPTION", { subject: "connectAll", field: "targets" }, wrong);
  const inside = inFile(targets);
  const named = Object.entries(inside);
  const one = optionsOf(knownConnectOptions);
  const known: Known<ConnectAllOptions> = {
    ...knownConnectOptions,
    servers: optionsOf(Object.fromEntries(named.map(([name]) => [name, one]))),
  };
  checkOptions({ subject: "connectAll", problem: otherOption }, options, known);
  const disabled = new Set<string>();
  const connects = new Map<string, () => Promise<McpClient>>();
  for (const [name, target] of named) {
    const isOff = isEntry(target) && (await takeEntry(name, target, options));
    if (isOff) disabled.add(name);
    else connects.set(name, () => connectOne(name, target, options));
  }
  const others = inside === targets.mcpServers ? fileOf(targets, "servers") : undefined;
  for (const server of Object.keys(others ?? {}))
    tell(
      options,
      server,
      `connectAll: ${JSON.stringify(server)} is in servers, and the file has mcpServers too: ignored`,
    );
  const clients = new McpClients(connects, disabled);
  await clients.retry();
  for (const outcome of clients.outcomes.values()) {
    if (outcome.ok || !(outcome.error instanceof ConfigurationError)) continue;
    if (outcome.error.subject === "connectAll") continue;
    // The error is about the options for all servers, so it fails the whole call.
    await clients.close();
    throw outcome.error;
  }
  return clients;
}

const knownTargets: Kind = {
  is: (value) => isPlain(value) && !isOne(value) && !listIn(value),
  mustBe: "an object of servers by name, such as mcpServers of .mcp.json",
  remedy: (value) =>
    isOne(value)
      ? "this is one server: use connect(), or connectAll({ name: … })"
      : listIn(value)
        ? `${listIn(value)} is a list: give each server a name`
        : parsedFirst(value),
  isSecret: true,
};

/** The field of a file that has a list of servers. */
function listIn(value: unknown): string | undefined {
  const given = Object(value) as { readonly [name: string]: unknown };
  return ["mcpServers", "servers"].find((field) => Array.isArray(given[field]));
}

function isOne(value: unknown): boolean {
  const { command, url, openWire } = Object(value) as { readonly [name: string]: unknown };
  return isUrl(value) || isFunction(openWire) || typeof (command ?? url) === "string";
}

/** The servers of a file; servers by name are returned as they are, even if one of them is named like a field of files. */
function inFile(given: ServerTargets | ServersFile): ServerTargets {
  return fileOf(given, "mcpServers") ?? fileOf(given, "servers") ?? (given as ServerTargets);
}

/** The servers in a field of a file; undefined if it is not one. */
function fileOf(given: ServerTargets | ServersFile, field: string): ServerTargets | undefined {
  const inner: unknown = Object.hasOwn(given, field) ? (given as ServerTargets)[field] : undefined;
  const isFile = isEntry(inner) && typeof inner.url !== "string" && typeof inner.command !== "string";
  return isFile ? (inner as ServerTargets) : undefined;
}

function isTarget(target: unknown): target is Target {
  return typeof target === "string" || target instanceof URL || hasMethods(target, "openWire");
}

function isEntry(target: unknown): target is ServerEntry {
  return isPlain(target) && !(target instanceof URL) && !("openWire" in target);
}

/** Reports the ignored fields of an entry. Returns whether the entry is disabled. */
async function takeEntry(name: string, entry: ServerEntry, options: ConnectAllOptions): Promise<boolean> {
  if (entry.disabled === true) return true;
  if (entry.enabled === false) {
    const reason = `connectAll: ${JSON.stringify(name)}.enabled is false: not connected`;
    // The file says so on purpose, so there is no warning on the console without an observer.
    if (options.observe) tell(options, name, reason);
    return true;
  }
  const { ignoredOf } = await entries.get();
  for (const reason of ignoredOf(name, entry)) tell(options, name, reason);
  return false;
}

function tell({ observe }: ConnectAllOptions, server: string, reason: string): void {
  tellIgnored(observe && guarded((event) => observe({ ...event, server })), reason);
}

async function connectOne(
  name: string,
  given: Target | ServerEntry,
  { servers = {}, ...shared }: ConnectAllOptions,
): Promise<McpClient> {
  const own = Object.hasOwn(servers, name) ? servers[name] : undefined;
  const { target, headers: inEntry = {} } = await readTarget(name, given);
  // Shared HTTP options do not apply to a server that is started by a command or runs in this process.
  const isHttp = typeof target === "string" || target instanceof URL;
  const levels: Level[] = [isHttp ? shared : {}, { headers: inEntry }, own ?? {}];
  const nearest = levels.findLast(hasCredentials);
  const headers = mergedHeaders(
    levels.map((level) => (level === nearest ? level.headers : withoutCredentials(level.headers))),
  );
  const { fetch, ...named } = namedOptions(name, shared);
  const all = { ...named, ...(isHttp && fetch && { fetch }), ...own };
  const { auth: _auth, headers: _headers, ...others } = all;
  const auth = nearest?.auth;
  const options = { ...others, ...(auth !== undefined && { auth }), ...(headers && { headers }) };
  try {
    return await connect(target, options);
  } catch (error) {
    throw (await entries.get()).ofEntry(name, error);
  }
}

async function readTarget(name: string, given: Target | ServerEntry): Promise<ReadEntry> {
  if (isEntry(given)) return (await entries.get()).readServerEntry(name, given, platform.variable);
  if (isTarget(given)) return { target: given };
  const problem = mismatch("a URL, an McpServer, or an entry with url or command", given);
  throw new ConfigurationError("INVALID_OPTION", { subject: "connectAll", field: `"${name}"` }, problem);
}

/**
 * The credentials of one level: all servers, an entry, or one server. Only the most specific level that has credentials counts.
 */
type Level = Pick<ConnectOptions, "auth" | "headers">;

function hasCredentials({ auth, headers = {} }: Level): boolean {
  return auth !== undefined || Object.keys(headers).some(isAuthorization);
}

function withoutCredentials(headers: HeaderFields = {}): HeaderFields {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isAuthorization(name)));
}

/** Merges headers by name, case-insensitively; later ones override. Undefined if there are none. */
function mergedHeaders(given: readonly (HeaderFields | undefined)[]): HeaderFields | undefined {
  const all = given.flatMap((headers) => Object.entries(headers ?? {}));
  const merged = new Map(all.map(([name, value]) => [name.toLowerCase(), [name, value] as const]));
  return merged.size === 0 ? undefined : Object.fromEntries(merged.values());
}
