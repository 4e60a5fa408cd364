// Pipelined requests: each begins when the response before it has been sent.
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";

/** By connection, the callbacks of the requests that wait for their turn. */
const waiting = new WeakMap<Socket, Set<(isOpen: boolean) => void>>();

/** How many requests may wait on one connection; one more closes it. */
const maxAhead = 100;

/** Resolves with true when the response may be written, or false if the connection closes first. Undefined if it may now. */
export function turnOf(response: ServerResponse): Promise<boolean> | undefined {
  const { socket } = response.req;
  if (response.socket !== null || response.writableEnded || response.destroyed) return undefined;
  // Some hosts, such as test tools, make a response without a connection.
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
