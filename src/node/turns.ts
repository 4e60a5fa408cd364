// Requests that a client sends ahead on one connection: each begins when the reply before it has left.
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";

/** By connection, the requests that wait for their turn, each with what to do when it comes, or never comes. */
const waiting = new WeakMap<Socket, Set<(isOpen: boolean) => void>>();

/** How many requests a client may send ahead on one connection; one that sends more is cut off. */
const maxAhead = 100;

/** Resolves when the response may be written: false if its connection has closed first. Undefined: it may be now. */
export function turnOf(response: ServerResponse): Promise<boolean> | undefined {
  const { socket } = response.req;
  if (response.socket !== null || response.writableEnded || response.destroyed) return undefined;
  // A response that was made without a connection, as some hosts do, waits for none.
  if (!(socket instanceof Socket) || socket.bytesRead === 0) return undefined;
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve(false);
    const queue = queueOf(socket);
    queue.add(resolve);
    response.once("socket", () => {
      queue.delete(resolve);
      resolve(true);
    });
    if (queue.size > maxAhead) socket.destroy();
  });
}

function queueOf(socket: Socket): Set<(isOpen: boolean) => void> {
  const known = waiting.get(socket);
  if (known !== undefined) return known;
  const queue = new Set<(isOpen: boolean) => void>();
  waiting.set(socket, queue);
  socket.once("close", () => {
    for (const settle of queue) settle(false);
  });
  return queue;
}
