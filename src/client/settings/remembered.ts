// What a client remembers of a server, so that it can connect again without asking first.
import type { Implementation, ServerCapabilities } from "../../protocol/model.ts";

/** What is known of a server after connecting: a plain value that you can store as JSON and pass to `connect` again. */
export interface Remembered {
  readonly revision: string;
  readonly server?: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string | undefined;
  /** When it was learned, in milliseconds since 1970: it goes stale after a day. */
  readonly at: number;
}
