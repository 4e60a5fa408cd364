// A test client over the stdio transport, in this process: real streams and framing, no child.
import { PassThrough } from "node:stream";
import type { Servable } from "halyard";
import { serveStdio } from "halyard/stdio";
import { type ConnectOptions, TestClient, type Wire } from "halyard/testing";

/** A server on streams of this process. Its output is not read before {@link readLines}. */
export async function openStdio(server: Servable): Promise<{ wire: Wire; output: PassThrough }> {
  const input = new PassThrough();
  const output = new PassThrough();
  const stdio = await serveStdio(server, { input, output, graceMs: 1000 });
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => void input.write(`${text}\n`),
    close: async () => {
      input.end();
      await stdio.closed;
    },
  };
  return { wire, output };
}

export async function connectStdio(server: Servable, options: ConnectOptions): Promise<TestClient> {
  const { wire, output } = await openStdio(server);
  readLines(output, (line) => wire.onMessage(line));
  const client = new TestClient(wire, options);
  if (options.handshake !== false) await client.open();
  return client;
}

/** Calls back with each line of a stream. */
export function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}
