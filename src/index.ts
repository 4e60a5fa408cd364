/**
 * Everything that a server author needs: the server, its errors and its types. Transports are in their own entries.
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
  type UrlElicitation,
  UrlElicitationRequired,
} from "./errors.ts";
export type { Load, Loads } from "./limits/loads.ts";
export { Pipe, type PipeOptions, type PipeOutput, type ReceiveOptions } from "./pipe/pipe.ts";
export type {
  Elicited,
  InputRequest,
  ModelPreferences,
  Root,
  Sampled,
  SamplingContent,
  SamplingMessage,
  SamplingTool,
  ToolResultContent,
  ToolUseContent,
} from "./protocol/asking.ts";
export type {
  Annotations,
  AudioContent,
  CacheHint,
  CallToolResult,
  ClientCapabilities,
  CompleteResult,
  CompletionReference,
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
} from "./protocol/model.ts";
export type { TemplateParams } from "./protocol/template-params.ts";
export { type TemplateValue, UriTemplate } from "./protocol/uri-template.ts";
export type { Listener, Stream } from "./push/listener.ts";
export type { AnySchema, JsonSchema, ToJsonSchema } from "./schema/compile.ts";
export type { StandardSchema } from "./schema/standard.ts";
export type { UrlAskOptions } from "./server/asking/elicitation.ts";
export { InputRequired, inputRequired, type InputRequiredParts } from "./server/asking/input-required.ts";
export type { AskOptions } from "./server/asking/question.ts";
export type { RequestStateOptions } from "./server/request-state/options.ts";
export type { SampleOptions } from "./server/asking/sampling.ts";
export { MemorySingleUseStore, type SingleUseStore } from "./server/request-state/single-use.ts";
export type {
  Completer,
  CompletionHandler,
  CompletionRequest,
  Suggestions,
} from "./server/catalogue/completers.ts";
export type { MethodDefinition, RequestHandler } from "./server/catalogue/methods.ts";
export type { PromptDefinition, PromptHandler, PromptReturn } from "./server/catalogue/prompts.ts";
export type { ShownErrors } from "./server/catalogue/definition.ts";
export type { Handle } from "./server/catalogue/registry.ts";
export type {
  ListedResource,
  ResourceDefinition,
  ResourceHandler,
  ResourceReturn,
  TemplateDefinition,
  TemplateHandler,
} from "./server/catalogue/resources.ts";
export type {
  StructuredReturn,
  TaskDefinition,
  TaskSupport,
  ToolDefinition,
  ToolHandler,
  ToolReturn,
} from "./server/catalogue/tool-definition.ts";
export type { AttachOptions, Detach } from "./server/attach.ts";
export type { Collection, ResourceCollection } from "./server/catalogue/collections.ts";
export { Connection, type ConnectionOptions, type Exchange } from "./server/connection.ts";
export type { Context } from "./server/context.ts";
export type { ClientNotificationHandler, NotificationSource, SessionEnd } from "./server/core.ts";
export type {
  AskEvent,
  HandlerErrorEvent,
  ListenerEvent,
  PushEvent,
  RefusalEvent,
  RequestEvent,
  ServerEvent,
  TaskEvent,
} from "./server/events.ts";
export type { Extension, ExtensionListen, ExtensionMethod, ExtensionRequest } from "./server/extensions.ts";
export type { Logger } from "./server/logger.ts";
export type {
  IncomingRequest,
  MethodMiddleware,
  Middleware,
  Next,
  RequestKinds,
} from "./server/middleware.ts";
export type { ListMethod, ServerLimits, ServerMode, ServerOptions } from "./server/options.ts";
export type { LogOptions, Push } from "./server/push.ts";
export { audio, image, result, text, ToolResult, type ToolResultParts } from "./server/results.ts";
export type { Answering } from "./server/dispatch.ts";
export type { Answer } from "./server/answer.ts";
export type { Servable } from "./server/servable.ts";
export { McpServer } from "./server/server.ts";
export type { TaskOptions } from "./server/tasks/options.ts";
export { MemoryTaskStore, type MemoryTaskStoreOptions } from "./server/tasks/memory-store.ts";
export type { TaskChange, TaskQuery, TaskRecord, TaskStatus, TaskStore } from "./server/tasks/store.ts";
export type { MessageLimits } from "./wire/limits.ts";
export {
  type Incoming,
  type JsonObject,
  readIncoming,
  type ReadMessage,
  type RequestId,
  type RpcError,
  type RpcFailure,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type RpcSuccess,
} from "./wire/message.ts";
