// The facts about a server that a client remembers, so that it can connect again without discovery.
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
