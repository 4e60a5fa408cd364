// Which code answers which method. Whether a method exists for a peer is for the tables of its revision to say.
import type { Implementation } from "../../protocol/model.ts";
import type { Hub } from "../../push/hub.ts";
import type { MethodHandler, Tasks } from "../calls/seams.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Features } from "../catalogue/features.ts";
import type { Settings } from "../settings/settings.ts";
import { complete } from "./completion.ts";
import { discover, initialize, ping, setLogLevel } from "./handshake.ts";
import { listen } from "./listen.ts";
import { listHandler } from "./lists.ts";
import { getPrompt } from "./prompts.ts";
import { readResource, subscribeResource, unsubscribeResource } from "./resources.ts";
import { callTool } from "./tools.ts";

/** What the methods are about. */
interface MethodParts {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly catalogue: Catalogue;
  readonly features: Features;
  readonly hub: Hub;
  readonly tasks: Tasks;
  /** Called when a legacy client has been told the capabilities. */
  readonly onAnnounced: () => void;
}

/** Every method of the protocol, but for those of tasks. */
export function protocolMethods(parts: MethodParts): [name: string, handler: MethodHandler][] {
  const { catalogue, settings, hub } = parts;
  return [
    ["initialize", initialize(parts, parts.onAnnounced)],
    ["server/discover", discover(parts)],
    ["ping", ping],
    ["logging/setLevel", setLogLevel],
    ["tools/list", listHandler("tools", catalogue, settings)],
    ["tools/call", callTool(catalogue, settings, parts.tasks)],
    ["prompts/list", listHandler("prompts", catalogue, settings)],
    ["prompts/get", getPrompt(catalogue)],
    ["resources/list", listHandler("resources", catalogue, settings)],
    ["resources/templates/list", listHandler("resourceTemplates", catalogue, settings)],
    ["resources/read", readResource(catalogue)],
    ["resources/subscribe", subscribeResource(settings, hub)],
    ["resources/unsubscribe", unsubscribeResource(hub)],
    ["completion/complete", complete(catalogue)],
    ["subscriptions/listen", listen(catalogue)],
  ];
}
