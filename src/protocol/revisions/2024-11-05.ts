// Protocol revision 2024-11-05: the first one.
import { errorCodes } from "../../base/errors.ts";
import { names, type RequestRow, type Revision, rows } from "../revision.ts";

const requests: ReadonlyMap<string, RequestRow> = new Map<string, RequestRow>([
  ["initialize", { beforeInitialized: true, uncancellable: true }],
  ["ping", { beforeInitialized: true }],
  ...rows("tools/list tools/call", { feature: "tools" }),
  ...rows("prompts/list prompts/get", { feature: "prompts" }),
  ...rows("resources/list resources/templates/list resources/read", { feature: "resources" }),
  ...rows("resources/subscribe resources/unsubscribe", { feature: "subscribe" }),
  ["completion/complete", { feature: "completions" }],
  ["logging/setLevel", { feature: "logging" }],
]);

export const revision20241105: Revision = {
  date: "2024-11-05",
  era: "legacy",
  requests,
  listens: new Map(),
  clientRequests: names("ping roots/list sampling/createMessage"),
  forms: "plain",
  samplingBlocks: "one",
  urlRequired: "unknown",
  tasks: "none",
  hasBatches: false,
  hasVersionHeader: false,
  primesStreams: false,
  unreadableId: null,
  resourceNotFoundCode: errorCodes.legacyResourceNotFound,
  invalidArguments: "error",
  structuredContent: "none",
  // Clients ignore capabilities that they do not know, so `extensions` of later revisions is safe to send.
  serverCapabilities: names("tools prompts resources logging experimental extensions"),
  fields: {
    implementation: names("name version"),
    tool: names("name description inputSchema"),
    prompt: names("name description arguments"),
    promptArgument: names("name description required"),
    resource: names("uri name description mimeType size annotations"),
    resourceTemplate: names("uriTemplate name description mimeType annotations"),
    annotations: names("audience priority"),
    contents: names("uri mimeType text blob"),
    progress: names("progressToken progress total"),
    elicitation: new Set(),
    sampling: names(
      "messages modelPreferences systemPrompt includeContext temperature maxTokens stopSequences metadata",
    ),
  },
  degradesContent: true,
  content: new Map([
    ["text", names("type text annotations")],
    ["image", names("type data mimeType annotations")],
    ["resource", names("type resource annotations")],
  ]),
};
