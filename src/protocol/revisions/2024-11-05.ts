// Protocol revision 2024-11-05: the first one.
import { errorCodes } from "../../errors.ts";
import type { RequestRow, Revision } from "../revision.ts";

const requests: ReadonlyMap<string, RequestRow> = new Map<string, RequestRow>([
  ["initialize", { beforeInitialized: true, uncancellable: true }],
  ["ping", { beforeInitialized: true }],
  ["tools/list", { feature: "tools" }],
  ["tools/call", { feature: "tools" }],
  ["prompts/list", { feature: "prompts" }],
  ["prompts/get", { feature: "prompts" }],
  ["resources/list", { feature: "resources" }],
  ["resources/templates/list", { feature: "resources" }],
  ["resources/read", { feature: "resources" }],
  ["resources/subscribe", { feature: "subscribe" }],
  ["resources/unsubscribe", { feature: "subscribe" }],
  ["completion/complete", { feature: "completions" }],
  ["logging/setLevel", { feature: "logging" }],
]);

export const revision20241105: Revision = {
  date: "2024-11-05",
  era: "legacy",
  requests,
  listens: new Map(),
  clientRequests: new Set(["ping", "roots/list", "sampling/createMessage"]),
  forms: "plain",
  samplingBlocks: "one",
  urlRequired: "unknown",
  tasks: "none",
  hasBatches: false,
  primesStreams: false,
  unreadableId: "null",
  resourceNotFoundCode: errorCodes.legacyResourceNotFound,
  invalidArguments: "error",
  structuredContent: "none",
  // Clients ignore capabilities that they do not know, so `extensions` of later revisions is safe to send.
  serverCapabilities: new Set(["tools", "prompts", "resources", "logging", "experimental", "extensions"]),
  fields: {
    implementation: new Set(["name", "version"]),
    tool: new Set(["name", "description", "inputSchema"]),
    prompt: new Set(["name", "description", "arguments"]),
    promptArgument: new Set(["name", "description", "required"]),
    resource: new Set(["uri", "name", "description", "mimeType", "size", "annotations"]),
    resourceTemplate: new Set(["uriTemplate", "name", "description", "mimeType", "annotations"]),
    annotations: new Set(["audience", "priority"]),
    contents: new Set(["uri", "mimeType", "text", "blob"]),
    progress: new Set(["progressToken", "progress", "total"]),
    elicitation: new Set(),
    sampling: new Set([
      "messages",
      "modelPreferences",
      "systemPrompt",
      "includeContext",
      "temperature",
      "maxTokens",
      "stopSequences",
      "metadata",
    ]),
  },
  degradesContent: true,
  content: new Map([
    ["text", new Set(["type", "text", "annotations"])],
    ["image", new Set(["type", "data", "mimeType", "annotations"])],
    ["resource", new Set(["type", "resource", "annotations"])],
  ]),
};
