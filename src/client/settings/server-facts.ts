// The facts about a server: as a client knows them, and as it remembers them to connect again without discovery.
import { isFilled, isPlain, type Kind, texts } from "../../base/kinds.ts";
import type { Implementation, ServerCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject } from "../../base/wire/message.ts";

/** The facts about a tool that a call over HTTP needs before it is sent. */
export interface RememberedTool {
  readonly name: string;
  /** The arguments that a call repeats as headers `Mcp-Param-{name}`; missing if there are none. */
  readonly headers?: readonly { readonly name: string; readonly path: readonly string[] }[];
}

/** The facts about a server after connecting: a plain value that you can store as JSON and pass to `connect` again. */
export interface Remembered {
  readonly revision: string;
  readonly server?: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string | undefined;
  /** The listed tools of a modern server over HTTP, so that the first call of each has its headers. */
  readonly tools?: readonly RememberedTool[];
  /** When the client learned this, in milliseconds since 1970. It goes stale after a day. */
  readonly at: number;
}

export const rememberedServer: Kind<Remembered> = {
  is: isRemembered,
  mustBe: "what client.remember() returned",
  remedy: parsedFirst,
  isSecret: true,
};

/** Advice for passing the text of an object, or the path of its file, instead of the object. */
export function parsedFirst(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return `it is a text: ${/^\s*\{/.test(value) ? "pass JSON.parse(text)" : "read and parse the file first"}`;
}

function isRemembered(value: unknown): boolean {
  const { revision, capabilities, at, tools = [] } = Object(value) as { readonly [name: string]: unknown };
  const isKnown = isFilled(revision) && isPlain(capabilities) && Number.isFinite(at);
  return isKnown && Array.isArray(tools) && tools.every(isRememberedTool);
}

function isRememberedTool(value: unknown): boolean {
  const { name, headers = [] } = Object(value) as { readonly [name: string]: unknown };
  return isFilled(name) && Array.isArray(headers) && headers.every(isRememberedHeader);
}

function isRememberedHeader(value: unknown): boolean {
  const { name, path } = Object(value) as { readonly name?: unknown; readonly path?: unknown };
  return typeof name === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(name) && texts.is(path);
}

/** The facts about the server. */
export interface ServerFacts {
  readonly revision: Revision;
  readonly server: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
  /** The target that the user dialled, as errors show it. */
  readonly address: string;
  /** Whether requests carry HTTP headers. */
  readonly hasHeaders: boolean;
}

/** Whether calls become tasks because the client requests it, and the server allows that. */
export function areTasksRequested({ revision, capabilities }: ServerFacts): boolean {
  if (revision.tasks !== "core") return false;
  const { requests } = capabilities.tasks ?? {};
  const { tools } = isObject(requests) ? requests : {};
  return isObject(tools) && isObject(tools["call"]);
}
