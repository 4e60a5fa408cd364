// What a client knows of the server that it is connected to.
import type { Implementation, ServerCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";

/** What is known of the server. */
export interface Peer {
  readonly revision: Revision;
  readonly server: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
  /** What the user dialled, as errors show it. */
  readonly address: string;
  /** Whether requests carry HTTP headers. */
  readonly hasHeaders: boolean;
}
