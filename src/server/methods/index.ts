// The handlers of all methods, by name. The table of a revision says which methods its peers can call.
import type { Implementation } from "../../protocol/model.ts";
import type { Hub } from "../push/hub.ts";
import type { MethodHandler, TaskSeam } from "../calls/seams.ts";
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

/** The parts of the server that methods use. */
interface MethodParts {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly catalogue: Catalogue;
  readonly features: Features;
  readonly hub: Hub;
  readonly tasks: TaskSeam;
  /** Called when the server sends its capabilities to a client. */
  readonly onAnnounced: () => void;
}

/** Every method of the protocol, except for those of tasks. */
export function protocolMethods(parts: MethodParts): [name: string, handler: MethodHandler][] {
  const { catalogue, settings, hub } = parts;
  return [
    ["initialize", initialize(parts)],
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
