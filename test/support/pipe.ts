// A peer on a pipe that the test controls: it sees every write as it happens, and the reader can be slow.
import type { ClientCapabilities, JsonObject, RequestId, Servable } from "halyard";
import { Pipe, portOf, type PipeOptions } from "halyard/transport";
import { type Received, TestClient } from "halyard/testing";

export interface PipePeerOptions extends Partial<PipeOptions> {
  readonly revision?: string;
  readonly capabilities?: ClientCapabilities;
}

export class PipePeer {
  readonly pipe: Pipe;
  readonly client: TestClient;
  /** Every message as it was written, in order. */
  readonly written: Received[] = [];
  /** Why the pipe was destroyed, if it was. */
  destroyed: string | undefined;
  /** While this is true the output takes what it is given, and says that it wants no more. */
  slow = false;
  /** Called with each message while it is being written: what it causes to be written comes first. */
  onWrite: (message: Received) => void = () => {};

  constructor(
    server: Servable,
    { revision = "2026-07-28", capabilities = {}, ...options }: PipePeerOptions = {},
  ) {
    const wire = {
      onMessage: (_text: string) => {},
      onClose: () => {},
      send: (text: string) => void this.pipe.receive(text),
      close: () => this.pipe.end(0),
    };
    const output = {
      write: (text: string) => {
        const message = JSON.parse(text) as Received;
        this.onWrite(message);
        this.written.push(message);
        wire.onMessage(text);
        return !this.slow;
      },
      destroy: (reason: string) => {
        this.destroyed = reason;
      },
    };
    this.pipe = new Pipe(portOf(server), output, { transport: "test", ...options });
    this.client = new TestClient(wire, { revision, capabilities });
  }

  /** The reader has caught up. */
  drain(): void {
    this.slow = false;
    this.pipe.drained();
  }

  /** Sends a request and does not wait. */
  start(method: string, params: JsonObject, id: RequestId): void {
    this.client.send({ jsonrpc: "2.0", id, method, ...this.client.withMeta(params) });
  }
}
