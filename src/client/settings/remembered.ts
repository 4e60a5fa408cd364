// What a client remembers of a server, so that it can connect again without asking first.
import type { Implementation, ServerCapabilities } from "../../protocol/model.ts";

/** What a call needs to know of a tool before it is sent over HTTP. */
export interface RememberedTool {
  readonly name: string;
  /** The arguments that a call repeats as headers `Mcp-Param-{name}`; missing if there are none. */
  readonly headers?: readonly { readonly name: string; readonly path: readonly string[] }[];
}

/** What is known of a server after connecting: a plain value that you can store as JSON and pass to `connect` again. */
export interface Remembered {
  readonly revision: string;
  readonly server?: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string | undefined;
  /** The tools that were listed, of a modern server over HTTP: the first call of one of these has its headers. */
  readonly tools?: readonly RememberedTool[];
  /** When it was learned, in milliseconds since 1970: it goes stale after a day. */
  readonly at: number;
}
