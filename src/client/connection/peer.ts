// The facts that a client knows of its server.
import type { Implementation, ServerCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";

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
