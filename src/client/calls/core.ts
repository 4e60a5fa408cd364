// The core that the features of a client use: requests, notifications, and events of the connection.
import type { JsonObject, RequestId, RpcNotification } from "../../base/wire/message.ts";
import type { CallBudget } from "../channel/channel.ts";
import type { ServerFacts } from "../settings/server-facts.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { CallOptions, CallSettings } from "../settings/call-options.ts";

/** How long a request may take. */
export interface CallTimes {
  readonly timeoutMs: number;
  readonly maxTimeMs: number;
}

/** The options of a request that a feature sends. */
export interface CoreRequestOptions extends CallOptions {
  /** Over HTTP, headers that repeat arguments (`Mcp-Param-*`), with names in lower case. */
  readonly mirrored?: { readonly [name: string]: string } | undefined;
  /**
   * Whether the request may be sent again although the server may have run it. Called only after such a loss. @default {by the
   * method}
   */
  readonly isRepeatable?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * Whether the response is a stream that stays open: neither timeout applies, and the request is not sent again automatically.
   */
  readonly isStream?: boolean;
  /** Sends the message unchanged, once, under this id if there is one, and accepts a result of any type: for tests of servers. */
  readonly verbatim?: { readonly id: RequestId | undefined } | undefined;
  /** The budget of the call that the request belongs to. @default {a new one} */
  readonly budget?: CallBudget | undefined;
  /** Called with the id of the request each time it is sent. */
  readonly onSent?: ((id: string | number) => void) | undefined;
}

/** The part of a client that features use. */
export interface ClientCore {
  readonly peer: ServerFacts;
  readonly limits: ClientLimits;
  /** The values that errors must not show when they quote the server. */
  readonly secrets: Secrets;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
  /** Whether messages outside requests can arrive at the moment. */
  readonly isListening: boolean;
  /** Sends a request through its attempts and rounds, and returns the result; rejects with the errors of settings/errors.ts. */
  request(method: string, params: JsonObject | undefined, options?: CoreRequestOptions): Promise<JsonObject>;
  /** The timeouts of a request with these options. */
  timesOf(options: CallSettings | undefined): CallTimes;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Calls `callback` for each notification of that method, until you call the returned function. */
  onNotification(method: string, callback: (message: RpcNotification) => void): () => void;
  /**
   * Calls `callback` when the client has a new session or process, so that the server has lost its subscriptions and settings.
   */
  onReopened(callback: () => void | Promise<void>): () => void;
  /** Calls `callback` when messages outside requests may have been missed. */
  onGap(callback: () => void): () => void;
  /** Calls the `onGap` callbacks, because a listen stream was lost. */
  missed(): void;
  /** Calls `callback` when the credentials of the client have changed. */
  onCredentials(callback: () => void): () => void;
  /** A text that identifies the credentials of the next request; undefined if they never change. */
  credentials(): string | undefined | Promise<string>;
  observe(event: ClientEvent): void;
  /** Reports an exception of the user's function `own`. */
  thrown(own: object, reason: string): void;
}
