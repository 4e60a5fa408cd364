// The revision-neutral model: the types that handlers receive and return, the same for every revision.
import {
  filledText,
  type Kind,
  type Known,
  listOf,
  matching,
  needed,
  oneOf,
  options,
  text,
} from "../base/kinds.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/wire/message.ts";

/** An icon of a tool, prompt, resource or server. @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic} */
export interface Icon {
  /** An `http(s):` or `data:` URI. */
  readonly src: string;
  readonly mimeType?: string | undefined;
  /** Such as `48x48`, or `any`. */
  readonly sizes?: readonly string[] | undefined;
  readonly theme?: "light" | "dark" | undefined;
}

/** The name and version of a server or client. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  /** Icons that the other side may show. */
  readonly icons?: readonly Icon[] | undefined;
}

/** The fields of an icon, and below those of an implementation, for checks of authors' values. */
const knownIcon: Known<Icon> = {
  src: needed(matching(/^(?:https?|data):/i, "an http(s) or data URI")),
  mimeType: text,
  sizes: listOf(matching(/^(?:any|\d+x\d+)$/, ""), 'a list such as ["48x48", "any"]'),
  theme: oneOf("light", "dark"),
};

export const icons: Kind<readonly Icon[]> = listOf(options(knownIcon), "a list of icons");

export const knownImplementation: Known<Implementation> = {
  name: needed(filledText),
  version: needed(filledText),
  title: text,
  description: text,
  websiteUrl: text,
  icons,
};

/** Hints for the client on how to use a piece of content. */
export interface Annotations {
  readonly audience?: readonly ("user" | "assistant")[] | undefined;
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number | undefined;
  /** ISO 8601. */
  readonly lastModified?: string | undefined;
}

/** Hints for the client on what a tool does. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  /** Whether the tool changes nothing. @default {false} */
  readonly readOnlyHint?: boolean | undefined;
  /** Whether the tool may delete or overwrite something, if it changes anything. @default {true} */
  readonly destructiveHint?: boolean | undefined;
  /** Whether a second call with the same arguments changes nothing more. @default {false} */
  readonly idempotentHint?: boolean | undefined;
  /** Whether the tool reaches things outside the server, such as the web. @default {true} */
  readonly openWorldHint?: boolean | undefined;
}

/** Text. */
export interface TextContent {
  readonly type: "text";
  readonly text: string;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** An image. */
export interface ImageContent {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** Audio. Clients whose revision has no audio receive a line of text instead. */
export interface AudioContent {
  readonly type: "audio";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** A link to a resource that the client may read. Clients whose revision has no links receive its name and URI as text. */
export interface ResourceLink {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** A resource with its contents. */
export interface EmbeddedResource {
  readonly type: "resource";
  readonly resource: ResourceContents;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** One piece of a tool result or of a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** The contents of a resource: text, or binary data as base64. */
export type ResourceContents = {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly _meta?: JsonObject | undefined;
} & ({ readonly text: string } | { readonly blob: string });

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

/** The JSON Schema of a tool's arguments, which are an object. Its lists are plain arrays: it is read, and never written by hand. */
export interface ToolSchema {
  readonly type: "object";
  /** The schemas of the arguments, by name. */
  readonly properties?: { [name: string]: { [keyword: string]: JsonValue } } | undefined;
  /** The names of the arguments that cannot be left out. */
  readonly required?: string[] | undefined;
  readonly [keyword: string]: unknown;
}

/** A tool as `tools/list` returns it. */
export interface Tool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly inputSchema: ToolSchema;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly execution?:
    | { readonly taskSupport?: "optional" | "required" | "forbidden" | undefined }
    | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** A prompt as `prompts/list` returns it. */
export interface Prompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** The arguments, in the order to ask for them; each value is a string. */
  readonly arguments?: readonly {
    readonly name: string;
    readonly title?: string | undefined;
    readonly description?: string | undefined;
    readonly required?: boolean | undefined;
  }[];
  readonly _meta?: JsonObject | undefined;
}

/** A resource as `resources/list` returns it. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** The MIME type of the contents. */
  readonly mimeType?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
  /** The audience of the resource, its importance, and when it changed. */
  readonly annotations?: Annotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** A resource template as `resources/templates/list` returns it. */
export interface ResourceTemplate extends Omit<Resource, "uri" | "size"> {
  readonly uriTemplate: string;
}

/** The result of `tools/call`. */
export interface CallToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  readonly description?: string | undefined;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: JsonObject | undefined;
}

/** The result of `resources/read`. */
export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: JsonObject | undefined;
}

/** The result of `completion/complete`. */
export interface CompleteResult {
  readonly completion: {
    /** The suggestions, best first: at most 100. */
    readonly values: readonly string[];
    /** How many suggestions there are in all, if the server knows. */
    readonly total?: number | undefined;
    /** Whether there are more than these. */
    readonly hasMore?: boolean | undefined;
  };
}

/** What a completion is for: an argument of a prompt, or a variable of a resource template. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** How long a result may be cached, and by which caches. */
export interface CacheHint {
  /** How long the result stays fresh, in milliseconds. @default {0} */
  readonly ttlMs?: number | undefined;
  /** `public`: any cache may serve it to any user. @default {"private"} */
  readonly scope?: "public" | "private" | undefined;
}

/** The severity of a log message, as in RFC 5424, least severe first. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

export const logLevels: readonly LogLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** Whether `level` is at least as severe as `wanted`; false if nothing is wanted. */
export function isLogged(level: unknown, wanted: LogLevel | undefined): boolean {
  return wanted !== undefined && logLevels.indexOf(level as LogLevel) >= logLevels.indexOf(wanted);
}

export function isLogLevel(value: unknown): value is LogLevel {
  return logLevels.includes(value as LogLevel);
}

export function isRole(value: unknown): value is "user" | "assistant" {
  return value === "user" || value === "assistant";
}

/** The capabilities that a client declares, including members that Halyard does not know. */
export interface ClientCapabilities {
  readonly roots?: { readonly listChanged?: boolean | undefined } | undefined;
  readonly sampling?: JsonObject | undefined;
  readonly elicitation?: JsonObject | undefined;
  readonly experimental?: JsonObject | undefined;
  readonly extensions?: JsonObject | undefined;
  readonly [name: string]: unknown;
}

/** How a client describes itself, as JSON texts; without capabilities, that text is undefined. */
export interface ClientTexts {
  readonly clientInfo?: string | undefined;
  readonly clientCapabilities?: string | undefined;
}

/** The capabilities that a server declares. */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean };
  readonly prompts?: { readonly listChanged?: boolean };
  readonly resources?: { readonly listChanged?: boolean | undefined; readonly subscribe?: boolean };
  readonly completions?: JsonObject | undefined;
  readonly logging?: JsonObject | undefined;
  readonly experimental?: JsonObject | undefined;
  readonly extensions?: JsonObject | undefined;
  readonly tasks?: JsonObject | undefined;
}

/** The caller: `issuer` and `subject` identify it, the rest is what this request was granted. It never holds the token. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** The granted scopes. A definition with `scopes` requires all of them. */
  readonly scopes?: readonly string[] | undefined;
  /** The OAuth client that acts for the caller. */
  readonly clientId?: string | undefined;
  /** When the grant expires, in milliseconds since 1970. The server then closes the caller's open streams. */
  readonly expiresAt?: number | undefined;
  /** The claims of the token. Only handlers see them: they never reach the log, `observe` or a session store. */
  readonly claims?: JsonObject | undefined;
}

/** The name and version that a client sends. A malformed value counts as absent, because nothing depends on it. */
export function readImplementation(value: unknown): Implementation | undefined {
  if (!isObject(value) || typeof value["name"] !== "string" || typeof value["version"] !== "string")
    return undefined;
  return value as unknown as Implementation;
}

/** What a task is doing. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";
