// What a runtime offers to a client beyond the web: Node starts processes and sends HTTP requests with `node:http`.
import type { Transport } from "../channel/channel.ts";
import type { Send } from "../http/send.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { CommandTarget } from "../settings/command.ts";

/** The parts of a client that differ between runtimes. The import `#client-platform` is the one of the current runtime. */
export interface Platform {
  /** A transport that starts a command and uses its standard input and output. Rejects where processes cannot be started. */
  commandTransport(
    target: CommandTarget,
    limits: ClientLimits,
    secrets: Secrets,
    observe: (event: ClientEvent) => void,
  ): Promise<Transport>;
  /**
   * Creates the function that sends the HTTP requests of one client, with `fetch` if you pass one; undefined where only `fetch`
   * can.
   */
  readonly createSend: ((fetch: typeof globalThis.fetch | undefined) => Promise<Send>) | undefined;
  /** Returns the value of an environment variable; undefined if it is not set, or there is no environment. */
  variable(name: string): string | undefined;
}
