// The seam between a client and its transports: a transport opens channels, and a channel carries requests and messages.
import type { Revision } from "../../protocol/revision.ts";
import type { RequestId, RpcNotification, RpcRequest, RpcResponse } from "../../base/wire/message.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { HeaderFields } from "../settings/auth.ts";

/** The limits that one call shares with all requests that it causes, including hidden ones such as lists. */
export interface CallBudget {
  /** When the call began, by `performance.now()`: `maxTimeMs` runs from then. */
  readonly startedAt: number;
  /** When the server last showed activity for the call: `timeoutMs` runs from then. */
  heardAt: number;
  /** How often the client asked for other credentials. */
  signIns: number;
  /** Why it got no other credentials. The call does not ask again. */
  denial?: Error | undefined;
}

export function beginBudget(): CallBudget {
  const now = performance.now();
  return { startedAt: now, heardAt: now, signIns: 0 };
}

/** One request to the server. */
export interface ChannelRequest {
  readonly id: RequestId;
  readonly method: string;
  /** The whole message. */
  readonly text: string;
  /** Over HTTP, the headers that repeat parts of `params` (`Mcp-Name`, `Mcp-Param-*`), ready to be sent, with names in lower case. */
  readonly mirrored?: HeaderFields | undefined;
  /** Over HTTP, the headers that the caller added. The channel adds its own. */
  readonly headers?: HeaderFields | undefined;
  /** The budget of the call that the request belongs to. @default {a new one} */
  readonly budget?: CallBudget | undefined;
  /**
   * Set by the channel: called at most once, with the reason, when the caller gives up. The channel then cancels the request in
   * the way of its transport and revision. An AbortSignal for each request would cost more than all the rest of a call.
   */
  onAbandoned?: ((reason: unknown) => void) | undefined;
  /** Whether the client must not cancel the request: `initialize`. */
  readonly isUncancellable?: boolean;
  /** Whether the response is a stream that stays open (`subscriptions/listen`): no timeout applies to it. */
  readonly isStream?: boolean;
}

/** Receives what happens on a channel. */
export interface Receiver {
  /** A request or notification of the server has arrived on the stream of that name. */
  message(message: RpcRequest | RpcNotification, stream: string): void;
  /** Something arrived that the client ignores. */
  ignored(reason: string): void;
  /** Messages outside requests may have been missed: the stream that carries them was lost and could not be resumed. */
  gap(): void;
  /** A long-lived stream opened, was lost, or is given up. */
  stream(state: "opened" | "resumed" | "lost" | "given-up", stream: string, reason?: string): void;
  /** The channel has ended without a call of `close`. It carries no more messages. */
  ended(reason: Error): void;
  /** Receives every message as text, for recordings; undefined if there is no recording. */
  readonly tap: Tap | undefined;
  /** The values that errors must not show when they quote the server. */
  readonly secrets: Secrets;
}

/** Receives a message: its direction, its stream, and its text. */
export type Tap = (direction: "sent" | "received", stream: string, text: string) => void;

/** A connection to one server, from its opening to its loss. A lost channel is never repaired: the client opens another one. */
export interface Channel {
  /**
   * Sends a request, and resolves with its response. Rejects with ConnectionLost, HttpFailure, AuthRequired or InvalidResponse if there
   * is none, or with the reason given to `onAbandoned`.
   */
  request(outgoing: ChannelRequest): Promise<RpcResponse>;
  /** Sends a notification or the answer to a request of the server. */
  send(text: string): Promise<void>;
  /**
   * Both sides speak this revision from now on. Call it before the first request of a modern revision, and after `initialize` has
   * agreed on a legacy one.
   */
  speak(revision: Revision): void;
  /**
   * Opens the stream on which messages outside requests arrive, where the transport needs one, and resolves when it is open or the
   * server does not offer it. Called after `notifications/initialized`.
   */
  listen(): Promise<void>;
  /** Whether messages outside requests can arrive at the moment. */
  readonly isListening: boolean;
  /** The output of the server besides messages, as errors show it, each part on lines of its own; empty if there is none. */
  written?(): Promise<string>;
  /** Ends the channel. Waiting requests reject with ConnectionLost, reason `closed`. */
  close(): Promise<void>;
}

/** Opens channels to one server. */
export interface Transport {
  readonly kind: "http" | "stdio" | "wire";
  /** The target that the user dialled, in a form that may be shown: a URL without its query, or a command without secrets. */
  readonly address: string;
  /** The secrets that the client sends to the server, which may repeat them. */
  readonly secrets: Secrets;
  /** Whether requests carry HTTP headers. */
  readonly hasHeaders: boolean;
  /** Whether the client may open another channel after one was lost. */
  readonly reopens: boolean;
  open(receiver: Receiver, signal: AbortSignal): Promise<Channel>;
  /** Returns a text that identifies the credentials of the next request. Absent if they never change. */
  readonly credentials?: (() => string | Promise<string>) | undefined;
  /** The transport of older servers at the same address, tried if `initialize` is refused with 400, 404 or 405. */
  readonly older?: Transport | undefined;
}
