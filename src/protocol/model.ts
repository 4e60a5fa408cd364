// The revision-neutral model: what handlers see and return, whatever revision the peer speaks.
import type { JsonObject } from "../wire/message.ts";

/** A picture for a tool, prompt, resource or server. @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic} */
export interface Icon {
  /** An `http(s):` or `data:` URI. */
  readonly src: string;
  readonly mimeType?: string;
  /** Such as `48x48`, or `any`. */
  readonly sizes?: readonly string[];
  readonly theme?: "light" | "dark";
}

/** Who is speaking: the name and version of a server or client. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

/** Hints for the client on how to use a piece of content. */
export interface Annotations {
  readonly audience?: readonly ("user" | "assistant")[];
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** Hints for the client on what a tool does. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Text, for people and models alike. */
export interface TextContent {
  readonly type: "text";
  readonly text: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** A picture. */
export interface ImageContent {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** A sound; clients older than this kind of content get a line of text instead. */
export interface AudioContent {
  readonly type: "audio";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** A pointer to a resource that the client may read; clients older than it get its name and URI as text. */
export interface ResourceLink {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** A resource with its contents. */
export interface EmbeddedResource {
  readonly type: "resource";
  readonly resource: ResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** One piece of a tool result or of a prompt message. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** What a resource holds: text, or binary data as base64. */
export type ResourceContents = {
  readonly uri: string;
  readonly mimeType?: string;
  readonly _meta?: JsonObject;
} & ({ readonly text: string } | { readonly blob: string });

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

/** A tool as lists show it. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly execution?: { readonly taskSupport?: "optional" | "required" | "forbidden" };
  readonly _meta?: JsonObject;
}

/** A prompt as lists show it. */
export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly arguments?: readonly {
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
  readonly _meta?: JsonObject;
}

/** A resource as lists show it. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

/** A resource template as lists show it. */
export interface ResourceTemplate extends Omit<Resource, "uri" | "size"> {
  readonly uriTemplate: string;
}

/** The result of `tools/call`. */
export interface CallToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** The result of `prompts/get`. */
export interface GetPromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: JsonObject;
}

/** The result of `resources/read`. */
export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: JsonObject;
}

/** The result of `completion/complete`. */
export interface CompleteResult {
  readonly completion: {
    readonly values: readonly string[];
    readonly total?: number;
    readonly hasMore?: boolean;
  };
}

/** What a completion is asked for: an argument of a prompt, or a variable of a resource template. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** How long, and by whom, a result may be cached. */
export interface CacheHint {
  /** Milliseconds for which the result stays fresh. @default {0} */
  readonly ttlMs?: number;
  /** `public`: any cache may serve it to anybody. @default {"private"} */
  readonly scope?: "public" | "private";
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

/** Whether a message of that level is for somebody who wants those from `wanted` on. */
export function isLogged(level: unknown, wanted: LogLevel | undefined): boolean {
  return wanted !== undefined && logLevels.indexOf(level as LogLevel) >= logLevels.indexOf(wanted);
}

export function isLogLevel(value: unknown): value is LogLevel {
  return logLevels.includes(value as LogLevel);
}

/** What a client says it can do; unknown members are kept. */
export interface ClientCapabilities {
  readonly roots?: { readonly listChanged?: boolean };
  readonly sampling?: JsonObject;
  readonly elicitation?: JsonObject;
  readonly experimental?: JsonObject;
  readonly extensions?: JsonObject;
  readonly [name: string]: unknown;
}

/** What a server says it can do. */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean };
  readonly prompts?: { readonly listChanged?: boolean };
  readonly resources?: { readonly listChanged?: boolean; readonly subscribe?: boolean };
  readonly completions?: JsonObject;
  readonly logging?: JsonObject;
  readonly experimental?: JsonObject;
  readonly extensions?: JsonObject;
  readonly tasks?: JsonObject;
}

/** Who is calling: issuer and subject say who, the rest is what this request was granted. Never the token. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** What it may do; a definition that names scopes is refused to whoever lacks one of them. */
  readonly scopes?: readonly string[] | undefined;
  /** The client that acts for it. */
  readonly clientId?: string | undefined;
  /** When the grant ends, in milliseconds since 1970: a stream that is held open is closed then. */
  readonly expiresAt?: number | undefined;
  /** Everything that the token says. It reaches handlers, and neither the log, nor `observe`, nor a session store. */
  readonly claims?: JsonObject | undefined;
}
