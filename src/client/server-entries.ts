// Entries of `mcpServers` in the configuration files of Claude, Cursor and VS Code: reads and checks them, and fills in
// variables.
import { clip, ConfigurationError } from "../base/errors.ts";
import {
  filledText,
  flag,
  type Kind,
  milliseconds,
  oneOf,
  problemOf,
  type Table,
  textRecord,
  texts,
} from "../base/kinds.ts";
import { nearest } from "../base/options.ts";
import type { Target } from "./connect.ts";
import { checkHeaders } from "./http/headers.ts";
import { isSecretSetting } from "./redaction/secret-names.ts";
import type { HeaderFields } from "./settings/auth.ts";
import { printable, useVariables } from "./settings/shown.ts";

/**
 * An entry of `mcpServers`. `${VAR}`, `${VAR:-default}` and `${env:VAR}` in its texts stand for environment variables. {@link
 * connectAll} ignores unknown fields, and reports them.
 */
export interface ServerEntry {
  /** @default {"stdio" for a command, otherwise "http"} */
  readonly type?: string | undefined;
  /** The address of a server on the network. */
  readonly url?: string | undefined;
  /** Added to every HTTP request. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** The program to start. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: { readonly [name: string]: string } | undefined;
  readonly cwd?: string | undefined;
  /** Whether to leave this server out. @default {false} */
  readonly disabled?: boolean | undefined;
  /** The opposite, as other hosts write it. @default {true} */
  readonly enabled?: boolean | undefined;
  readonly [field: string]: unknown;
}

/** A valid entry. */
export interface ReadEntry {
  readonly target: Target;
  readonly headers?: HeaderFields;
}

/** Returns the value of an environment variable. */
type Variables = (name: string) => string | undefined;

const ofEvery: Table = {
  type: oneOf("http", "streamable-http", "sse", "stdio"),
  disabled: flag,
  enabled: flag,
};

/** The fields of each kind of server. */
const ways: Readonly<Record<"url" | "command", Table>> = {
  url: { ...ofEvery, url: { ...filledText, mustBe: "a URL" }, headers: textRecord },
  command: {
    ...ofEvery,
    command: { ...filledText, mustBe: "the program to start" },
    args: { ...texts, mustBe: 'a list of texts, such as ["server.js"]' },
    env: textRecord,
    cwd: { ...filledText, mustBe: "the path of a folder" },
    restart: flag,
    graceMs: milliseconds,
  },
};

/** The ignored fields of an entry, in sentences for its author. */
export function ignoredOf(name: string, entry: ServerEntry): string[] {
  const way = wayOf(entry);
  if (way === undefined) return [];
  const other = way === "url" ? ways.command : ways.url;
  return Object.keys(entry)
    .filter((field) => !Object.hasOwn(ways[way], field))
    .map((field) => {
      const why = Object.hasOwn(other, field) ? `has no meaning for a server with ${way}` : "is not a field";
      return `connectAll: ${placeOf(name, field)} ${why}: ignored`;
    });
}

/** Reads an entry. Throws a `ConfigurationError` that names the entry and the field, and contains no values of variables. */
export function readServerEntry(name: string, entry: ServerEntry, variables: Variables): ReadEntry {
  const way = checkWay(name, entry);
  const known = ways[way];
  const fields: Record<string, unknown> = {};
  const used = new Map<string, string>();
  const use: Variables = (variable) => {
    const value = variables(variable);
    if (value !== undefined) used.set(variable, value);
    return value;
  };
  for (const field of Object.keys(entry).filter((each) => Object.hasOwn(known, each))) {
    if (entry[field] === undefined) continue;
    const problem = problemOf(known[field] as Kind, entry[field]);
    if (problem !== undefined) throw invalid(placeOf(name, field), problem);
    fields[field] = filled(placeOf(name, field), entry[field], use);
  }
  const { type: _, disabled: __, enabled: ___, url, headers, ...command } = fields;
  const target = (way === "command" ? command : url) as Target;
  useVariables(target, used, isSecretSetting);
  if (headers === undefined) return { target };
  try {
    return { target, headers: checkHeaders(headers as HeaderFields) };
  } catch (error) {
    throw renamed(placeOf(name, "headers"), error as ConfigurationError);
  }
}

/** Converts an error of `connect` so that it names the entry and its field, if it is about these. Headers are checked before. */
export function ofEntry(name: string, error: unknown): unknown {
  if (!(error instanceof ConfigurationError)) return error;
  const field = error.field === "target" ? "url" : error.field;
  const isOfEntry = field === "url" || Object.hasOwn(ways.command, field);
  return isOfEntry ? renamed(placeOf(name, field), error) : error;
}

/** The same problem with another place. */
function renamed(place: string, error: ConfigurationError): ConfigurationError {
  return invalid(place, error.message.slice(`${error.subject}: ${error.field} `.length), error);
}

/** The kind of server of an entry; undefined if that is ambiguous. */
function wayOf(entry: ServerEntry): "url" | "command" | undefined {
  const isUrl = entry.url !== undefined;
  const isCommand = entry.command !== undefined;
  if (isUrl !== isCommand) return isUrl ? "url" : "command";
  if (!isUrl || entry.type === undefined) return undefined;
  return entry.type === "stdio" ? "command" : "url";
}

function checkWay(name: string, entry: ServerEntry): "url" | "command" {
  const { type } = entry;
  const wrongType = type === undefined ? undefined : problemOf(ofEvery["type"] as Kind, type);
  if (wrongType !== undefined) throw invalid(placeOf(name, "type"), wrongType);
  const way = wayOf(entry);
  if (way === undefined) throw unclear(name, entry);
  const needed = type === undefined ? way : type === "stdio" ? "command" : "url";
  if (needed !== way) throw invalid(placeOf(name, needed), `is required, since type is "${type}"`);
  return way;
}

function unclear(name: string, entry: ServerEntry): ConfigurationError {
  if (entry.url !== undefined) return invalid(placeOf(name), "has url and command: remove one of them");
  const known = { ...ways.url, ...ways.command };
  const unknown = Object.keys(entry).find((field) => !Object.hasOwn(known, field));
  const meant =
    unknown === undefined ? "" : `; ${shownName(unknown)} is not a field: ${nearest(unknown, known)}`;
  return invalid(placeOf(name), `has neither url nor command: add one of them${meant}`);
}

/** A text, or the texts of a list or an object, with the values of variables. */
function filled(place: string, value: unknown, variables: Variables): unknown {
  if (typeof value === "string") return filledIn(place, value, variables);
  if (Array.isArray(value)) return value.map((item) => filled(place, item, variables));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, text]) => [
    key,
    filled(`${place}.${shownName(key)}`, text, variables),
  ]);
  return Object.fromEntries(entries);
}

const reference = /\$\{([^{}]*)\}/g;
const variable = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;
/** Other prefixes have no meaning in these files, but may have one for a shell. */
const ofHost = /^[A-Za-z]+:/;
const ofEditor = /^(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator)$/;

function filledIn(place: string, text: string, variables: Variables): string {
  return text.replaceAll(reference, (whole, inner: string) => {
    const [, name, otherwise] = variable.exec(inner) ?? [];
    if (name === undefined) {
      if (!ofHost.test(inner)) return whole;
      throw invalid(
        place,
        `has ${shownName(whole)}, which only an editor can fill in: write the value, or \${VAR}`,
      );
    }
    const value = variables(name);
    if (value !== undefined) return value;
    if (otherwise !== undefined) return otherwise;
    const remedy = ofEditor.test(name)
      ? "only an editor knows it: write the value"
      : `set it, or write \${${name}:-default}`;
    throw invalid(place, `needs the environment variable ${name}, which is not set: ${remedy}`);
  });
}

function placeOf(name: string, field?: string): string {
  const entry = JSON.stringify(shownName(name));
  return field === undefined ? entry : `${entry}.${shownName(field)}`;
}

function shownName(name: string): string {
  return printable(clip(name));
}

function invalid(field: string, problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", { subject: "connectAll", field }, problem, { cause });
}
