// Opens the listener of a legacy session, which receives the server's notifications until it is detached.
import { listChanged, resourceUpdated } from "../../protocol/notifications.ts";
import type { Stream } from "../push/listener.ts";
import { topicOf } from "../push/topic.ts";
import { type Connection, grantOf } from "../context/connection.ts";
import type { Core } from "./core.ts";
import { peerOf, type SessionEnd } from "../diagnostics/events.ts";
import { tellSessionClosed } from "./notifications.ts";

/** How a session receives notifications. */
export interface AttachOptions {
  /** When the queue is full: close the stream, or drop messages and report a gap. @default {"destroy"} */
  readonly overflow?: "destroy" | "gap";
  /** The URIs of the resources that the session already subscribes to. */
  readonly subscriptions?: readonly string[];
  /** Whether another node had the session before, or this one had dropped it. @default {false} */
  readonly isRevived?: boolean;
}

/** Ends a session in this process, once. With a reason it calls `onSessionClosed`, and resolves when that is done. */
export type Detach = (reason?: SessionEnd) => Promise<void>;

/** Opens a listener for the session of the connection, and returns the function that closes it. */
export function attach(core: Core, connection: Connection, stream: Stream, options: AttachOptions): Detach {
  const { hub, settings, features } = core;
  const peer = peerOf(connection);
  const { session } = peer;
  if (session === undefined || settings.mode === "stateless") return async () => {};
  const { maxQueueBytes } = settings.limits;
  // A session gets notifications only for the lists that the reply to initialize declared.
  const topics = (["tools", "prompts", "resources"] as const)
    .filter((list) => features.has(list))
    .map((list) => listChanged[list]);
  const listener = hub.open({
    overflow: options.overflow,
    maxQueueBytes,
    ...peer,
    grant: grantOf({ connection }),
    log: features.has("logging") ? connection : undefined,
    stream,
    topics,
  });
  for (const uri of options.subscriptions ?? []) hub.subscribe(listener, topicOf(resourceUpdated, uri));
  settings.observe?.({ type: "session", state: options.isRevived ? "revived" : "made", ...peer });
  connection.listener = listener;
  core.window.connections?.opened(connection);
  let isOver = false;
  return async (reason) => {
    if (isOver) return;
    isOver = true;
    if (connection.listener === listener) connection.listener = undefined;
    hub.close(listener);
    settings.observe?.({ type: "session", state: "ended", reason, ...peer });
    if (reason !== undefined) await tellSessionClosed(core, connection, reason);
  };
}
