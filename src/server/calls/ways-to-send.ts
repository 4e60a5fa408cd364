// Names the function that sends each notification of the protocol, for the errors of functions that cannot send it.
import { listChanged, logMessage, resourceUpdated } from "../../protocol/notifications.ts";

/** The notifications of the protocol that an author may want to send, each with the function that sends it to all its clients. */
export const waysToSend: ReadonlyMap<string, string> = new Map<string, string>([
  ...Object.values(listChanged).map((name) => [name, `server.push.publish("${name}")`] as const),
  [resourceUpdated, "server.resources.updated(uri)"],
  [logMessage, "ctx.log(level, data) in a handler, or server.log(level, data)"],
  ["notifications/progress", "ctx.progress(done, total) in a handler"],
  ["notifications/elicitation/complete", "server.push.elicitationComplete(id)"],
]);
