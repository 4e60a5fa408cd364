/**
 * For your own transports: the port that drives a server, `Pipe` for peers whose messages share one pipe, and the connection,
 * exchange and stream that every transport uses.
 *
 * @module
 */
export type { Load, Loads } from "../base/limits/loads.ts";
export { Pipe, type PipeOptions, type PipeOutput, type ReceiveOptions } from "../server/pipe.ts";
export type { ParamHeader } from "../protocol/param-headers.ts";
export type { RequestRow, Revision } from "../protocol/revision.ts";
export type { SpokenRevisions } from "../protocol/revisions/index.ts";
export type { Listener, Stream } from "../server/push/listener.ts";
export type { Answer } from "../server/calls/answer.ts";
export type { AttachOptions, Detach } from "../server/calls/attach.ts";
export { Connection, type ConnectionOptions, type Exchange } from "../server/context/connection.ts";
export type { Answering } from "../server/calls/dispatch.ts";
export { portOf, type ServerPort } from "../server/calls/port.ts";
export {
  type Incoming,
  readIncoming,
  type ReadMessage,
  type RpcError,
  type RpcFailure,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type RpcSuccess,
} from "../base/wire/message.ts";
