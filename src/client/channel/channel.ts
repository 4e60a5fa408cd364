// The seam between a client and its transports: a transport opens channels, and a channel carries requests and messages.
import type { Revision } from "../../protocol/revision.ts";
import type { RequestId, RpcNotification, RpcRequest, RpcResponse } from "../../wire/message.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { HeaderFields } from "../settings/auth.ts";

/** What all requests that one call leads to share, hidden ones such as lists included: they stay within its limits together. */
export interface CallBudget {
  /** When the call began, by `performance.now()`: `maxTimeMs` runs from then. */
  readonly startedAt: number;
  /** When the server last gave a sign of life for it: `timeoutMs` runs from then. */
  heardAt: number;
  /** How often other credentials were asked for. */
  signIns: number;
  /** Why there are none: the call does not ask again. */
  denial?: Error | undefined;
}

export function beginBudget(): CallBudget {
  const now = performance.now();
  return { startedAt: now, heardAt: now, signIns: 0 };
}

/** One request on its way to the server. */
export interface Outgoing {
  readonly id: RequestId;
  readonly method: string;
  /** The whole message. */
  readonly text: string;
  /** Over HTTP, the headers that repeat parts of `params` (`Mcp-Name`, `Mcp-Param-*`), ready to be sent, with names in lower case. */
  readonly mirrored?: HeaderFields | undefined;
  /** Over HTTP, the headers that the caller added. The channel adds what it knows itself. */
  readonly headers?: HeaderFields | undefined;
  /** That of the call that it belongs to. @default {one of its own} */
  readonly budget?: CallBudget | undefined;
  /**
   * Set by the channel: called at most once, with the reason, when nobody waits any longer. The channel then tells the server as its
   * transport and revision demand. An AbortSignal for each request would cost more than all the rest of a call.
   */
  onAbandoned?: ((reason: unknown) => void) | undefined;
  /** The server must not be told of its end: `initialize`. */
  readonly isUncancellable?: boolean;
  /** The response is a stream that stays open (`subscriptions/listen`): no limit of time applies to it. */
  readonly isStream?: boolean;
}

/** What a channel tells the client. */
export interface Receiver {
  /** A request or notification of the server has arrived on the stream of that name. */
  message(message: RpcRequest | RpcNotification, stream: string): void;
  /** Something arrived that the client ignores. */
  ignored(reason: string): void;
  /** Messages outside requests may have been missed: the stream that carries them was lost and could not be resumed. */
  gap(): void;
  /** A long-lived stream opened, was lost, or is given up. */
  stream(state: "opened" | "resumed" | "lost" | "given-up", stream: string, reason?: string): void;
  /** The channel has ended by itself; it carries nothing any more. */
  ended(reason: Error): void;
  /** Sees every message as text, for recordings; undefined if nobody records. */
  readonly tap: Tap | undefined;
  /** What errors must not show of what the server says. */
  readonly secrets: Secrets;
}

/** Sees a message: which way it went, on which stream, and its text. */
export type Tap = (direction: "sent" | "received", stream: string, text: string) => void;

/** The way to one server, from its opening to its loss. A lost channel is never mended: the client opens another one. */
export interface Channel {
  /**
   * Sends a request, and resolves with its response. Rejects with ConnectionLost, HttpFailure, AuthRequired or InvalidResponse if there
   * is none, or with the reason given to `onAbandoned`.
   */
  request(outgoing: Outgoing): Promise<RpcResponse>;
  /** Sends a notification or the answer to a request of the server. */
  send(text: string): Promise<void>;
  /**
   * From now on both sides speak this revision. Call it before the first request of a modern revision, and when `initialize` has
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
  /** What the server wrote besides messages, as errors show it, each part on lines of its own; empty if nothing. */
  written?(): Promise<string>;
  /** Ends the channel. Requests that wait reject with ConnectionLost, reason `closed`. */
  close(): Promise<void>;
}

/** Opens channels to one server. */
export interface Transport {
  readonly kind: "http" | "stdio" | "wire";
  /** What the user dialled, as it may be shown: a URL without its query, or a command without secrets. */
  readonly address: string;
  /** The secrets that the server receives, and may repeat. */
  readonly secrets: Secrets;
  /** Whether requests carry HTTP headers. */
  readonly hasHeaders: boolean;
  /** Whether the client may open another channel when one was lost. */
  readonly reopens: boolean;
  open(receiver: Receiver, signal: AbortSignal): Promise<Channel>;
  /** Tells the credentials that a request would have from others. Absent if they never change. */
  readonly credentials?: (() => string | Promise<string>) | undefined;
  /** The transport of older servers at the same address, tried if `initialize` is refused with 400, 404 or 405. */
  readonly older?: Transport | undefined;
}
