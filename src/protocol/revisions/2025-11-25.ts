// Protocol revision 2025-11-25: icons, tasks, richer forms, URL elicitation, tools in sampling, invalid arguments as tool results.
import { type Revision, rows, withFields, withMembers, withRows } from "../revision.ts";
import { revision20250618 as before } from "./2025-06-18.ts";

export const revision20251125: Revision = {
  ...before,
  date: "2025-11-25",
  requests: withRows(
    before.requests,
    rows("tasks/get tasks/result tasks/list tasks/cancel", { feature: "tasks" }),
  ),
  forms: "full",
  samplingBlocks: "many",
  urlRequired: "error",
  tasks: "core",
  primesStreams: true,
  unreadableId: undefined,
  invalidArguments: "result",
  serverCapabilities: withMembers(before.serverCapabilities, ["tasks"]),
  fields: withFields(before.fields, {
    implementation: "description websiteUrl icons",
    tool: "icons execution",
    prompt: "icons",
    resource: "icons",
    resourceTemplate: "icons",
    elicitation: "mode url elicitationId",
    sampling: "tools toolChoice",
  }),
  degradesContent: false,
  content: withRows(before.content, [
    ["resource_link", withMembers(before.content.get("resource_link") ?? new Set(), ["icons"])],
  ]),
};
