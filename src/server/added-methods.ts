// The methods that an author has added to the protocol: on their own, or in an extension.
import type { Revision } from "../protocol/revision.ts";
import type { AddedMethod } from "./catalogue/methods.ts";
import type { Core } from "./calls/core.ts";

/** The method of that name, if clients of that era have it. */
export function findAdded(core: Core, method: string, era: Revision["era"]): AddedMethod | undefined {
  return core.methods.find(method) ?? core.extensions.find(method, era);
}
