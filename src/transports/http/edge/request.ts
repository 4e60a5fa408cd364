// The interfaces of HTTP requests and responses that each edge implements.
import type { RequestHead } from "../../../auth/authenticate.ts";
import type { Load } from "../../../base/limits/loads.ts";
import type { RpcError } from "../../../base/wire/message.ts";

/** A request. */
export interface HttpRequest extends RequestHead {
  /** The host in the request target, if the target is an absolute URL. */
  readonly authority?: string | undefined;
  /** The key that limits count it for: its address, or its principal after authentication. */
  caller: string;
  /** Reads at most `maxBytes` of the body, and counts what it has read in `load`. */
  body(maxBytes: number, load: Load): Promise<HttpBody>;
}

/** The body of a request: its text, the value that a framework has parsed, or why it could not be read. */
export type HttpBody =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-heavy" }
  /** Other code has read it. */
  | { readonly kind: "taken" }
  | { readonly kind: "broken" };

export type HttpHeaders = Readonly<Record<string, string>>;

/** Called when the endpoint refuses a request. */
export interface RefusalWatch {
  report(status: number, error: RpcError): void;
}

/** Sends the response to a request. */
export interface HttpResponder {
  /** Set if the server has `observe`. */
  refusals?: RefusalWatch | undefined;
  /** Added to the headers of the response. */
  corsHeaders?: HttpHeaders | undefined;
  /** Sends the whole response. */
  reply(status: number, headers: HttpHeaders, body?: string): void;
  /** Starts an event stream, and sends the headers immediately. */
  stream(headers: HttpHeaders): EventSink;
  /** Calls back once if the client disconnects before the response is complete. */
  onGone(callback: () => void): void;
  /** Whether the client has disconnected. */
  readonly gone: boolean;
}

/** An open event stream. */
export interface EventSink {
  /** Writes text. Returns false if the reader is behind. */
  write(text: string): boolean;
  /** Whether the reader is behind now. */
  readonly congested: boolean;
  /** Bytes that the reader has not read. */
  readonly unsent: number;
  /** Whether `destroy` has closed it. */
  readonly isDestroyed: boolean;
  /** Watches for a stall if the reader has not read everything; call it about once a second. */
  watch(): void;
  /** Calls back each time the reader has caught up. */
  onDrain(callback: () => void): void;
  /** Calls back once, when either side has closed the connection. */
  onClose(callback: () => void): void;
  /** Ends the response after its reader has read everything. */
  end(): void;
  /** Closes the connection immediately, because the reader is too slow. */
  destroy(): void;
}

/** The stream of a client that had disconnected, or already had a response. */
export const closedSink: EventSink = {
  congested: false,
  unsent: 0,
  isDestroyed: false,
  write: () => true,
  watch: () => {},
  onDrain: () => {},
  onClose: (callback) => queueMicrotask(callback),
  end: () => {},
  destroy: () => {},
};
