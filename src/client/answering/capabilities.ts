// The capabilities that a client declares because it has handlers for them.
import { extensionIds } from "../../protocol/meta.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { RootsOption } from "../settings/handlers.ts";
import { elicitCapability, type ElicitHandlers } from "./elicitation.ts";
import { sampleCapability, type SampleHandler } from "./sampling.ts";

/** What answers the server's questions. */
export interface Handlers {
  readonly elicit: ElicitHandlers;
  readonly sample: SampleHandler | undefined;
  readonly roots: RootsOption | undefined;
}

/** The handlers' capabilities on that revision, and those that the user declares besides. */
export function capabilitiesOf(
  { elicit, sample, roots }: Handlers,
  declared: Pick<ClientCapabilities, "experimental" | "extensions">,
  revision: Revision,
): ClientCapabilities {
  const { experimental } = declared;
  const elicitation = elicitCapability(elicit, revision);
  const own = revision.tasks === "extension" ? { [extensionIds.tasks]: {} } : undefined;
  const extensions = declared.extensions || own ? { ...own, ...declared.extensions } : undefined;
  return {
    ...(elicitation && { elicitation }),
    ...(sample && { sampling: sampleCapability(sample, revision) }),
    ...(roots && { roots: revision.era === "legacy" ? { listChanged: true } : {} }),
    ...(experimental && { experimental }),
    ...(extensions && { extensions }),
  };
}
