// Bytes to a port and bytes back, for what no HTTP client would send.
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawSocket {
  readonly socket: Socket;
  /** What has come back so far. */
  readonly text: () => string;
  /** Sends bytes, and resolves with everything that came back once the connection has closed. */
  request(...parts: readonly (string | Buffer)[]): Promise<string>;
}

export function openRaw(port: number): RawSocket {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("error", () => {});
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  onTestFinished(() => void socket.destroy());
  const request = (...parts: readonly (string | Buffer)[]): Promise<string> => {
    for (const part of parts) socket.write(part);
    return new Promise((resolve) => socket.on("close", () => resolve(text)));
  };
  return { socket, text: () => text, request };
}
