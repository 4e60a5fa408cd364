// The facts about a server that a client remembers, so that it can connect again without discovery.
import { isFilled, isPlain, type Kind, texts } from "../../base/kinds.ts";
import type { Implementation, ServerCapabilities } from "../../protocol/model.ts";

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
