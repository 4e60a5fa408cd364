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
  notifications: new Set([
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
  ]),
  listens: new Map(),
  hasBatches: false,
  primesStreams: false,
  unreadableId: "null",
  resourceNotFoundCode: errorCodes.legacyResourceNotFound,
  invalidArguments: "error",
  structuredContent: "none",
  serverCapabilities: new Set(["tools", "prompts", "resources", "logging", "experimental"]),
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
  },
  degradesContent: true,
  content: new Map([
    ["text", new Set(["type", "text", "annotations"])],
    ["image", new Set(["type", "data", "mimeType", "annotations"])],
    ["resource", new Set(["type", "resource", "annotations"])],
  ]),
};
