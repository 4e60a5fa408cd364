// Protocol revision 2026-07-28: no handshake and no sessions; every request stands alone, and clients subscribe with `subscriptions/listen`.
import { errorCodes } from "../../base/errors.ts";
import { listChanged, resourceUpdated } from "../notifications.ts";
import {
  type ListenRow,
  names,
  type RequestRow,
  type Revision,
  rows,
  withoutMembers,
  withoutRows,
  withRows,
} from "../revision.ts";
import { revision20251125 as before } from "./2025-11-25.ts";

const removed = names(
  "initialize ping logging/setLevel resources/subscribe resources/unsubscribe tasks/get tasks/result tasks/list tasks/cancel",
);
const named = { mirrors: "name", repeats: ["name", "arguments"] };

const requests: ReadonlyMap<string, RequestRow> = withRows(withoutRows(before.requests, removed), [
  ["server/discover", { cacheable: true }],
  ["tools/list", { feature: "tools", cacheable: true }],
  ["tools/call", { feature: "tools", ...named }],
  ["prompts/list", { feature: "prompts", cacheable: true }],
  ["prompts/get", { feature: "prompts", ...named }],
  ...rows("resources/list resources/templates/list", { feature: "resources", cacheable: true }),
  ["resources/read", { feature: "resources", cacheable: true, mirrors: "uri", repeats: ["uri"] }],
  ["subscriptions/listen", { feature: "listen", stream: true }],
]);

const listens: ReadonlyMap<string, ListenRow> = new Map<string, ListenRow>([
  ["toolsListChanged", { kind: "flag", notification: listChanged.tools, feature: "tools" }],
  ["promptsListChanged", { kind: "flag", notification: listChanged.prompts, feature: "prompts" }],
  ["resourcesListChanged", { kind: "flag", notification: listChanged.resources, feature: "resources" }],
  ["resourceSubscriptions", { kind: "keys", notification: resourceUpdated, feature: "resources" }],
]);

export const revision20260728: Revision = {
  ...before,
  date: "2026-07-28",
  era: "modern",
  primesStreams: false,
  requests,
  listens,
  resourceNotFoundCode: errorCodes.invalidParams,
  structuredContent: "any",
  clientRequests: withoutMembers(before.clientRequests, ["ping"]),
  urlRequired: "question",
  tasks: "extension",
  serverCapabilities: withoutMembers(before.serverCapabilities, ["tasks"]),
  fields: {
    ...before.fields,
    tool: withoutMembers(before.fields.tool, ["execution"]),
    elicitation: withoutMembers(before.fields.elicitation, ["elicitationId"]),
  },
};
