// A legacy session takes pushes: what it is told of, and from when to when.
import { listChanged, resourceUpdated } from "../../protocol/notifications.ts";
import type { Stream } from "../../push/listener.ts";
import { topicOf } from "../../push/topic.ts";
import { type Connection, grantOf } from "../context/connection.ts";
import type { Core } from "./core.ts";
import { peerOf } from "../../diagnostics/events.ts";
import { type SessionEnd, tellSessionClosed } from "./notifications.ts";

/** How a session takes pushes. */
export interface AttachOptions {
  /** What happens when too much waits for a slow reader, or for a client to come back. @default {"destroy"} */
  readonly overflow?: "destroy" | "gap";
  /** The URIs of resources that the session has subscribed to before. */
  readonly subscriptions?: readonly string[];
}

/** Ends a session here, once. With a reason the author is told, and it resolves when that has been done. */
export type Detach = (reason?: SessionEnd) => Promise<void>;

/** Opens a listener for the session of the connection; what is returned closes it. */
export function attach(core: Core, connection: Connection, stream: Stream, options: AttachOptions): Detach {
  const { hub, settings, features } = core;
  const peer = peerOf(connection);
  const { session } = peer;
  if (session === undefined || settings.mode === "stateless") return async () => {};
  const { maxQueueBytes } = settings.limits;
  // What was not declared in the reply to initialize is not told of either.
  const topics = (["tools", "prompts", "resources"] as const)
    .filter((list) => features.has(list))
    .map((list) => listChanged[list]);
  const listener = hub.open({
    overflow: options.overflow,
    maxQueueBytes,
    ...peer,
    grant: grantOf({ connection }),
    caller: connection.caller,
    log: features.has("logging") ? connection : undefined,
    stream,
    topics,
  });
  for (const uri of options.subscriptions ?? []) hub.subscribe(listener, topicOf(resourceUpdated, uri));
  const event = { type: "listener", kind: "session", ...peer } as const;
  settings.observe?.({ ...event, state: "opened" });
  connection.listener = listener;
  let isOver = false;
  return async (reason) => {
    if (isOver) return;
    isOver = true;
    if (connection.listener === listener) connection.listener = undefined;
    hub.close(listener);
    settings.observe?.({ ...event, state: "closed" });
    if (reason !== undefined) await tellSessionClosed(core, connection, reason);
  };
}
