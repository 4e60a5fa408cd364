// The running log: what the balancer sends where, and what the nodes say.
import type { IncomingMessage } from "node:http";
import type { BalancedNode, RouteEvent } from "../../test/support/round-robin.ts";

/** Prints a line with the time, and the node that it is about. */
export function log(node: string, text: string): void {
  const time = new Date().toISOString().slice(11, 23);
  console.log(`${time}  ${node === "" ? "      " : `node ${node}`}  ${text}`);
}

/** The method in the body of each request that has been sent. */
const methods = new WeakMap<IncomingMessage, string>();

/** Logs the route of a request; pass it to a balancer. */
export function logRoute(event: RouteEvent, { name }: BalancedNode, request: IncomingMessage): void {
  if (event === "sent") {
    const resumed = request.headers["last-event-id"];
    const what = resumed === undefined ? "" : `from ${String(resumed)}`;
    if (request.method !== "POST") return log(name, `<- ${request.method} ${what}`);
    request.once("data", (chunk: Buffer) => {
      const method = /"method":\s*"([^"]+)"/.exec(chunk.toString())?.[1] ?? "an answer";
      methods.set(request, method);
      log(name, `<- POST ${method}`);
    });
  } else if (event !== "responded") {
    log(name, `   ${request.method} ${methods.get(request) ?? ""} ${event}`);
  }
}
