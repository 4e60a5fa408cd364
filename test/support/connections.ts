// The connections that servers of this process have, as they see them: a client that cuts one does not know when they notice.
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

const clientPorts = new Set<number>();

subscribe("net.server.socket", (message) => {
  const { socket } = message as { socket: Socket };
  const { remotePort } = socket;
  if (remotePort === undefined) return;
  clientPorts.add(remotePort);
  socket.on("close", () => clientPorts.delete(remotePort));
});

/** Whether a server still has the connection of the client at this port. */
export function isServed(clientPort: number): boolean {
  return clientPorts.has(clientPort);
}
