// A wire in memory to a server of the same process.
import type { ServerPort } from "./calls/port.ts";
import type { Wire } from "../base/wire/wire.ts";
import { Pipe, type PipeOptions } from "./pipe.ts";

/** How long running calls may take to finish after the client has closed the wire. */
const graceMs = 1000;

/** Opens a wire to the server. Each message of the server arrives in a microtask of its own, so never inside `send`. */
export function memoryWire(server: ServerPort, onFailure?: PipeOptions["onFailure"]): Wire {
  let ending: Promise<void> | undefined;
  const end = (reason: string): Promise<void> =>
    (ending ??= pipe.end(graceMs).then(() => wire.onClose(new Error(reason))));
  const wire: Wire = {
    send: (text) => {
      if (!pipe.receive(text)) throw new Error("The wire is closed: open another one");
    },
    onMessage: () => {},
    onClose: () => {},
    close: () => end("The client closed the wire"),
  };
  const pipe = new Pipe(
    server,
    {
      write: (text) => {
        queueMicrotask(() => wire.onMessage(text));
        return true;
      },
      destroy: (reason) => void end(reason),
    },
    { transport: "memory", peerIsUser: true, onFailure },
  );
  return wire;
}
