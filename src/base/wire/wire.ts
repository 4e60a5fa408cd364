// A wire: the simplest transport, which carries the texts of messages both ways. Memory, stdio, HTTP+SSE and your own transports are wires.

/** One end of a wire. The client sets `onMessage` and `onClose` before it sends anything. */
export interface Wire {
  /**
   * Sends the text of one message. Reject, or throw, if it cannot be sent: the client may send it again on another wire. If the server
   * may have got it, resolve, and call `onClose`.
   */
  send(text: string): void | Promise<void>;
  /** Called by the wire with each message that arrives. */
  onMessage: (text: string) => void;
  /** Called by the wire once, when no more messages can arrive. */
  onClose: (reason: Error) => void;
  /** Ends the wire. */
  close(): Promise<void>;
}

/**
 * Something that a client can connect to by a wire: an `McpServer` of the same process, or a transport of your own.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, type Wire, type WireSource } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const source: WireSource = {
 *   openWire: () => {
 *     const inner = server.openWire();
 *     const wire: Wire = {
 *       send: (text) => (console.log(text), inner.send(text)),
 *       onMessage: () => {},
 *       onClose: () => {},
 *       close: () => inner.close(),
 *     };
 *     inner.onMessage = (text) => wire.onMessage(text);
 *     inner.onClose = (reason) => wire.onClose(reason);
 *     return wire;
 *   },
 * };
 * const client = await connect(source);
 * await client.close();
 * ```
 */
export interface WireSource {
  /** Opens a new wire. The client calls it again when the last one has closed, unless `reopens` is false. */
  openWire(): Wire | Promise<Wire>;
  /** Whether another wire can be opened after one has closed. @default {true} */
  readonly reopens?: boolean;
}
