// An HTTP request and its response as plain values: what the edges turn their world's objects into.
import type { RequestHead } from "../../auth/authenticate.ts";
import type { Load } from "../../limits/loads.ts";
import type { RpcError } from "../../wire/message.ts";

/** A request. */
export interface HttpRequest extends RequestHead {
  /** The host that the target of the request names itself, before any header, where it does. */
  readonly authority?: string | undefined;
  /** Who it counts as where callers share a limit; set once that is known. */
  caller: string;
  /** Reads the body, at most `maxBytes` of it, and weighs what has been read. */
  body(maxBytes: number, load: Load): Promise<HttpBody>;
}

/** The body of a request: its text, or what a framework has already made of it. */
export type HttpBody =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-heavy" }
  | { readonly kind: "broken" };

export type HttpHeaders = Readonly<Record<string, string>>;

/** Told when the endpoint refuses a request. */
export interface RefusalWatch {
  report(status: number, error: RpcError): void;
}

/** The way to answer a request. */
export interface HttpResponder {
  /** Set where `observe` wants to hear of refusals. */
  refusals?: RefusalWatch | undefined;
  /** Answers in one go. */
  reply(status: number, headers: HttpHeaders, body?: string): void;
  /** Answers with a stream of events; the headers leave at once. */
  stream(headers: HttpHeaders): EventSink;
  /** Calls back once, when the client has gone before the answer was complete. */
  onGone(callback: () => void): void;
  /** Whether the client has gone already. */
  readonly gone: boolean;
}

/** An open event stream. */
export interface EventSink {
  /** Writes text. False when the reader is behind. */
  write(text: string): boolean;
  /** Whether the reader is behind now. */
  readonly congested: boolean;
  /** Has its reader watched if it has not taken what was written; to be called every second or so. */
  watch(): void;
  /** Calls back each time the reader has caught up. */
  onDrain(callback: () => void): void;
  /** Calls back once, when the connection has closed, by whichever side. */
  onClose(callback: () => void): void;
  /** Ends the response in good order, once its reader has taken everything. */
  end(): void;
  /** Cuts the connection: the reader is too slow. */
  destroy(): void;
}

/** A stream that nobody can read: its client had gone, or somebody else had answered, before it was opened. */
export const closedSink: EventSink = {
  congested: false,
  write: () => true,
  watch: () => {},
  onDrain: () => {},
  onClose: (callback) => queueMicrotask(callback),
  end: () => {},
  destroy: () => {},
};
