// What the features of a client stand on: requests, notifications, and news of the connection.
import type { JsonObject, RequestId, RpcNotification } from "../../wire/message.ts";
import type { CallBudget } from "../channel/channel.ts";
import type { Peer } from "../connection/peer.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { CallOptions, CallSettings } from "../settings/options.ts";

/** How long a request may take. */
export interface CallTimes {
  readonly timeoutMs: number;
  readonly maxTimeMs: number;
}

/** The options of a request that a feature sends. */
export interface CoreRequestOptions extends CallOptions {
  /** Over HTTP, headers that repeat arguments (`Mcp-Param-*`), with names in lower case. */
  readonly mirrored?: { readonly [name: string]: string } | undefined;
  /** Whether it may be sent again although the server may have run it; asked only when that matters. @default {by the method} */
  readonly isRepeatable?: (() => boolean | Promise<boolean>) | undefined;
  /** The response is a stream that stays open: neither timeout applies, and the request is never sent again by itself. */
  readonly isStream?: boolean;
  /** The message is sent as it is given, once, under this id if there is one, and its result may be of any type: for tests of servers. */
  readonly verbatim?: { readonly id: RequestId | undefined } | undefined;
  /** That of the call that the request belongs to. @default {one of its own} */
  readonly budget?: CallBudget | undefined;
  /** Called with the id under which the request is sent, each time it is. */
  readonly onSent?: ((id: string | number) => void) | undefined;
}

/** The part of a client that features use. */
export interface Core {
  readonly peer: Peer;
  readonly limits: ClientLimits;
  /** What errors must not show of what the server says. */
  readonly secrets: Secrets;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
  /** Whether messages outside requests can arrive at the moment. */
  readonly isListening: boolean;
  /** Sends a request through its attempts and rounds, and returns the result; rejects with the errors of settings/errors.ts. */
  request(method: string, params: JsonObject | undefined, options?: CoreRequestOptions): Promise<JsonObject>;
  /** The limits of time of a request with these options. */
  timesOf(options: CallSettings | undefined): CallTimes;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Calls back for each notification of that method, until the returned function is called. */
  onNotification(method: string, callback: (message: RpcNotification) => void): () => void;
  /** Calls back when the client has a new session or process: whatever the server held of the old one is gone. */
  onReopened(callback: () => void | Promise<void>): () => void;
  /** Calls back when messages outside requests may have been missed. */
  onGap(callback: () => void): () => void;
  /** Tells all that wait for a gap that there was one: a listen stream was lost. */
  missed(): void;
  /** Calls back when the credentials of the client have changed. */
  onCredentials(callback: () => void): () => void;
  /** Tells the credentials that a request would have from others; undefined if they never change. */
  credentials(): string | undefined | Promise<string>;
  observe(event: ClientEvent): void;
  /** Reports what the function `own` of the user threw. */
  thrown(own: object, reason: string): void;
}
