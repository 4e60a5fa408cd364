// Hears what goes over the wire of an endpoint, message by message; a dashboard sets it while somebody follows a client.
import type { StreamEvent } from "../../diagnostics/events.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { Incoming } from "../../wire/message.ts";

/** Where an endpoint tells what happens on its streams. */
export interface Witnessed {
  readonly server: { readonly observe: ((event: StreamEvent) => void) | undefined };
  /** Unset unless somebody follows a client, so that it costs nothing. */
  witness: Witness | undefined;
}

/** A stream as a witness knows it: the same object each time. */
export interface HeardStream {
  readonly kind: StreamEvent["kind"];
}

/** Must not throw, and must not change what it hears. */
export interface Witness {
  /** A message or batch of a client, before it is answered. */
  received(connection: Connection, incoming: Incoming): void;
  /** The body of a reply that is not a stream, or a message on the stream of HTTP+SSE or of a resumable or listen stream. */
  wrote(connection: Connection, text: string, stream?: HeardStream, eventId?: string): void;
  /** A stream was opened, resumed or closed. Without `stream` it is one of HTTP+SSE. */
  changed(connection: Connection, event: StreamEvent, stream?: HeardStream): void;
}
