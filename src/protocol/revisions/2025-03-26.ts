// Protocol revision 2025-03-26: batches, audio, tool annotations, the completions capability, progress messages.
import { names, type Revision, withFields, withMembers, withRows } from "../revision.ts";
import { revision20241105 as before } from "./2024-11-05.ts";

export const revision20250326: Revision = {
  ...before,
  date: "2025-03-26",
  hasBatches: true,
  serverCapabilities: withMembers(before.serverCapabilities, ["completions"]),
  fields: withFields(before.fields, { tool: "annotations", progress: "message" }),
  content: withRows(before.content, [["audio", names("type data mimeType annotations")]]),
};
