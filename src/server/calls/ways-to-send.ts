// How authors send the notifications of the protocol, for the messages of functions that cannot send them.
import { listChanged, logMessage, resourceUpdated } from "../../protocol/notifications.ts";

/** The notifications of the protocol that an author may want to send, and what sends each to every client that it is for. */
export const waysToSend: ReadonlyMap<string, string> = new Map<string, string>([
  ...Object.values(listChanged).map((name) => [name, `server.push.publish("${name}")`] as const),
  [resourceUpdated, "server.resources.updated(uri)"],
  [logMessage, "ctx.log(level, data) in a handler, or server.log(level, data)"],
  ["notifications/progress", "ctx.progress(done, total) in a handler"],
  ["notifications/elicitation/complete", "server.push.elicitationComplete(id)"],
]);
