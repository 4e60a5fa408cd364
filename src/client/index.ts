/**
 * Connects to MCP servers of every protocol revision, over HTTP, stdio and memory.
 *
 * @module
 */
export {
  ConfigurationError,
  HalyardError,
  type HalyardErrorCode,
  InputCancelled,
  InputDeclined,
  ProtocolError,
} from "../base/errors.ts";
export type { InputRequest, ModelPreferences, Root, SamplingContent } from "../protocol/asking.ts";
export type { Implementation, LogLevel, ServerCapabilities, ToolSchema } from "../protocol/model.ts";
export { type InputRequiredResult, isInputRequired } from "./calls/results.ts";
export type { JsonObject } from "../base/wire/message.ts";
export type { Wire, WireSource } from "../base/wire/wire.ts";
export { chooseModel } from "./answering/choose-model.ts";
export type { ClientMiddleware, ClientRequest } from "./calls/middleware.ts";
export type { AnyTools, ToolArguments, ToolResultOf, ToolType, ToolTypes } from "./calls/tool-types.ts";
export type { ListPage } from "./catalogue/lists.ts";
export type { ListKind } from "./catalogue/kinds.ts";
export { type CompleteOptions } from "./settings/call-options.ts";
export { McpClient } from "./client.ts";
export { McpClients, type ServerOutcome, type ServerTool, type ServerTools } from "./clients.ts";
export { connectAll, type ConnectAllOptions, type ServersFile, type ServerTargets } from "./connect-all.ts";
export { connect, type Target } from "./connect.ts";
export type { Change, ChangeKind, ListenFilter } from "./listening/filter.ts";
export type { Listening, ListenOptions, OnChange } from "./listening/listening.ts";
export type { FromServer, OnServerChange, ServerCallOptions } from "./named-options.ts";
export type {
  CallToolResult,
  CompleteResult,
  ContentBlock,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  SamplingMessage,
  Tool,
} from "./settings/received.ts";
export type { RecordedLine } from "./recording.ts";
export type { ServerEntry } from "./server-entries.ts";
export type {
  AuthOption,
  AuthRefusal,
  AuthReply,
  AuthRequest,
  ClientAuth,
  HeaderFields,
} from "./settings/auth.ts";
export type { CommandTarget } from "./settings/command.ts";
export {
  AuthRequired,
  CallTimeout,
  CannotStart,
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  type LossReason,
  NoCommonRevision,
  OutputMismatch,
  RpcRejection,
  TaskEnded,
  type TaskEndReason,
  type TimeLimit,
  ToolCallError,
} from "./settings/errors.ts";
export type {
  ClientEvent,
  ClientRequestEvent,
  IgnoredEvent,
  MismatchEvent,
  QuestionEvent,
  RetryEvent,
  StateEvent,
  StderrEvent,
  StreamEvent,
  UnhandledEvent,
} from "./settings/events.ts";
export type {
  BooleanField,
  FormChoice,
  FormField,
  FormSchema,
  ListField,
  NumberField,
  TextField,
} from "../protocol/forms/form-schema.ts";
export type {
  ElicitAnswer,
  ElicitOption,
  FormQuestion,
  LogEntry,
  NotificationHandlers,
  OnElicit,
  OnSample,
  QuestionContext,
  RequestHandlers,
  RootsOption,
  SampleAnswer,
  SampleOption,
  SampleQuestion,
  UrlQuestion,
} from "./settings/handlers.ts";
export { type Backoff, type ClientLimits, defaultClientLimits } from "./settings/limits.ts";
export type { CallOptions, CallSettings, PageOptions, Progress, Reissue } from "./settings/call-options.ts";
export type { ConnectOptions } from "./settings/options.ts";
export type { Remembered, RememberedTool } from "./settings/server-facts.ts";
export type { ClientState, StateName } from "./settings/events.ts";
export type { ServersFilter, ServersListening } from "./several-listening.ts";
export type { StoredTask, TaskHandle } from "./tasks/handle.ts";
export type { TaskOptions } from "./tasks/task.ts";
export type { TaskState } from "./tasks/task.ts";
export type { TaskStatus } from "../protocol/model.ts";
export type { StartTaskOptions } from "./settings/call-options.ts";
