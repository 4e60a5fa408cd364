// The wire of a test client: it records every message that arrives, and the test and its client send on it.
import { isThenable } from "../base/async/promises.ts";
import { isRequestId, type RpcNotification, type RpcResponse } from "../base/wire/message.ts";
import type { Wire, WireSource } from "../base/wire/wire.ts";

/** A message from the server. */
export type Received = RpcNotification | RpcResponse;

export class RecordedWire implements WireSource {
  readonly reopens = false;
  /** Every message that has arrived, in order. */
  readonly received: Received[] = [];
  /** Sends what the client writes. */
  onSend: (text: string) => void = (text) => this.send(text);
  readonly #wire: Wire;
  /** The end of the wire that the client has, once it is open. */
  #line: Wire | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.onMessage = (text) => this.#receive(text);
    wire.onClose = (reason) => this.#line?.onClose(reason);
  }

  /** The client's end of the wire. The test sends on the same wire, and continues when the client gives up. */
  openWire(): Wire {
    this.#line = {
      send: (text) => this.onSend(text),
      onMessage: () => {},
      onClose: () => {},
      close: async () => {},
    };
    return this.#line;
  }

  /** Sends any text, unchanged. */
  send(text: string): void {
    const sent = this.#wire.send(text);
    if (isThenable(sent)) sent.then(undefined, (error: Error) => this.#line?.onClose(error));
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  /** Resolves with the first message that `matches`, among those received so far and later ones. */
  find(matches: (message: Received) => boolean, timeoutMs: number): Promise<Received> {
    return new Promise((resolve, reject) => {
      let at = 0;
      const look = (): void => {
        for (; at < this.received.length; at++) {
          const message = this.received[at];
          if (message !== undefined && matches(message)) {
            stop();
            return resolve(message);
          }
        }
      };
      const timer = setTimeout(() => {
        stop();
        reject(this.noneWithin(timeoutMs));
      }, timeoutMs);
      const stop = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  noneWithin(timeoutMs: number): Error {
    const received = JSON.stringify(this.received.slice(-5));
    return new Error(`No such message within ${timeoutMs} ms; received ${received}`);
  }

  #receive(text: string): void {
    const messages = [JSON.parse(text) as Received | Received[]].flat();
    this.received.push(...messages);
    for (const look of this.#waiting) look();
    // An error without an id belongs to a message of the test, although a client takes it for the response to its only request.
    const own = messages.filter((message) => "method" in message || isRequestId(message.id));
    if (own.length > 0) this.#line?.onMessage(own.length === messages.length ? text : JSON.stringify(own));
  }
}
