// Protocol revision 2025-11-25: icons, a fuller Implementation, invalid arguments as tool results, ids left out when unreadable.
import { type Revision, withFields, withMembers, withRows } from "../revision.ts";
import { revision20250618 as before } from "./2025-06-18.ts";

export const revision20251125: Revision = {
  ...before,
  date: "2025-11-25",
  primesStreams: true,
  unreadableId: "omit",
  invalidArguments: "result",
  fields: withFields(before.fields, {
    implementation: ["description", "websiteUrl", "icons"],
    tool: ["icons"],
    prompt: ["icons"],
    resource: ["icons"],
    resourceTemplate: ["icons"],
  }),
  degradesContent: false,
  content: withRows(before.content, [
    ["resource_link", withMembers(before.content.get("resource_link") ?? new Set(), ["icons"])],
  ]),
};
