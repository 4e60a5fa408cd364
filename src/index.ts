/**
 * The server, its errors and its types: everything that a server author needs. Transports have their own imports.
 *
 * @module
 */
export {
  ConfigurationError,
  errorCodes,
  HalyardError,
  type HalyardErrorCode,
  InputCancelled,
  InputDeclined,
  InputPending,
  ProtocolError,
  ResourceNotFoundError,
  ToolError,
  UrlElicitationRequired,
} from "./base/errors.ts";
export type {
  AskOptions,
  Elicited,
  InputRequest,
  Root,
  Sampled,
  SampleOptions,
  SamplingContent,
  SamplingMessage,
  SamplingTool,
} from "./protocol/asking.ts";
export type {
  AudioContent,
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  EmbeddedResource,
  GetPromptResult,
  Icon,
  ImageContent,
  Implementation,
  LogLevel,
  Principal,
  Prompt,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceLink,
  ResourceTemplate,
  ServerCapabilities,
  TextContent,
  Tool,
  ToolAnnotations,
  ToolSchema,
} from "./protocol/model.ts";
export type { TemplateParams } from "./protocol/uri-template.ts";
export { UriTemplate } from "./protocol/uri-template.ts";
export type { AnySchema, JsonSchema } from "./protocol/schema/compile.ts";
export type { StandardSchema } from "./protocol/schema/standard.ts";
export {
  audio,
  image,
  inputRequired,
  InputRequired,
  result,
  text,
  ToolResult,
} from "./server/catalogue/results.ts";
export type { RequestStateOptions } from "./server/request-state/options.ts";
export type { CompletionHandler } from "./server/catalogue/completers.ts";
export type { MethodDefinition, RequestHandler } from "./server/catalogue/methods.ts";
export type { PromptDefinition, PromptHandler, PromptReturn } from "./server/catalogue/prompts.ts";
export type { Handle } from "./server/catalogue/registry.ts";
export type {
  ResourceDefinition,
  ResourceHandler,
  ResourceReturn,
  TemplateDefinition,
  TemplateHandler,
} from "./server/catalogue/resources.ts";
export type {
  StructuredReturn,
  ToolDefinition,
  ToolHandler,
  ToolReturn,
} from "./server/catalogue/tool-definition.ts";
export type { Collection, ResourceCollection } from "./server/catalogue/collections.ts";
export type { Context } from "./server/context/context.ts";
export type { NotificationSource } from "./server/calls/notifications.ts";
export type { ServerEvent, SessionEnd } from "./server/diagnostics/events.ts";
export type { Extension } from "./server/catalogue/extensions.ts";
export type { Logger } from "./base/logging/logger.ts";
export type {
  IncomingRequest,
  MethodMiddleware,
  Middleware,
  RequestKinds,
} from "./server/calls/middleware.ts";
export type { ServerOptions } from "./server/options.ts";
export type { ServerLimits } from "./server/settings/limits.ts";
export type { ServerMode } from "./server/settings/options.ts";
export type { Push } from "./server/push.ts";
export type { Servable } from "./server/calls/port.ts";
export { type ClusterView, McpServer } from "./server/server.ts";
export type { Backplane } from "./cluster/node/backplane.ts";
export type { ClusterNode } from "./cluster/node/presence.ts";
export type { JsonObject, RequestId } from "./base/wire/message.ts";
