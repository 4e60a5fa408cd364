// Protocol revision 2025-06-18: structured output, elicitation, resource links, titles, `_meta` on definitions; no batches.
import { names, type Revision, withFields, withMembers } from "../revision.ts";
import { revision20250326 as before } from "./2025-03-26.ts";

const link = names("type uri name title description mimeType size annotations _meta");

export const revision20250618: Revision = {
  ...before,
  date: "2025-06-18",
  hasBatches: false,
  hasVersionHeader: true,
  structuredContent: "object",
  clientRequests: withMembers(before.clientRequests, ["elicitation/create"]),
  fields: withFields(before.fields, {
    implementation: "title",
    tool: "title outputSchema _meta",
    prompt: "title _meta",
    promptArgument: "title",
    resource: "title _meta",
    resourceTemplate: "title _meta",
    annotations: "lastModified",
    contents: "_meta",
    elicitation: "message requestedSchema",
  }),
  content: new Map([
    ...[...before.content].map(([type, fields]) => [type, withMembers(fields, ["_meta"])] as const),
    ["resource_link", link],
  ]),
};
