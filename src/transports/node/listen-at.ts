// Opens the port of a server, and explains why it cannot be opened.
import type { Server } from "node:http";
import { HalyardError } from "../../base/errors.ts";

/** Resolves when the server listens. Rejects with the reason, and what to do. */
export function listenAt(http: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", (cause: NodeJS.ErrnoException) => {
      reject(new HalyardError("CANNOT_LISTEN", listenProblem(cause, port, host), { cause }));
    });
    http.listen(port, host, () => resolve());
  });
}

function listenProblem({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is in use: stop the other process, or pass another port`;
    case "EACCES":
      return `Port ${port} on ${host} needs rights that this process lacks: pass a port from 1024, such as 3000, and put a proxy in front`;
    case "EADDRNOTAVAIL":
      return `The host ${host} is not an address of this machine: pass "127.0.0.1", or "0.0.0.0" for all its addresses`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host ${host} cannot be resolved: pass an address of this machine, such as "127.0.0.1"`;
    default:
      return `Cannot listen on ${host}:${port}: ${message}`;
  }
}
