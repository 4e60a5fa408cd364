// Who may subscribe to a resource, and what the author is told of: its first subscriber, and its last one's leaving.
import { invalidRequest } from "../../errors.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import type { TopicWatch } from "../../push/hub.ts";
import { topicOf } from "../../push/topic.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { Context } from "../context/context.ts";
import type { Core } from "../calls/core.ts";
import type { Settings } from "../options.ts";

/** Tells the author; nothing is watched when nobody wants to know. */
export function watchSubscribers(settings: Settings): TopicWatch | undefined {
  const { onSubscribed, onUnsubscribed } = settings;
  if (onSubscribed === undefined && onUnsubscribed === undefined) return undefined;
  const prefix = topicOf(resourceUpdated, "");
  const tell = (name: string, hook: Settings["onSubscribed"], topic: string): void => {
    if (hook === undefined || !topic.startsWith(prefix)) return;
    // Nobody waits for the author's code, and what it throws is no concern of the client's.
    logRejection(settings.logger, `${name}()`, Promise.resolve(topic.slice(prefix.length)).then(hook));
  };
  return {
    first: (topic) => tell("onSubscribed", onSubscribed, topic),
    last: (topic) => tell("onUnsubscribed", onUnsubscribed, topic),
  };
}

/** Refuses more keys than this caller may have of what all share. */
export function assertTotalRoom({ hub }: Core, caller: string, length: number): void {
  if (length === 0 || hub.hasRoomFor(caller, length)) return;
  throw invalidRequest("Too much is subscribed to: try again later, or with less");
}

/** Those of the URIs that this peer may subscribe to. When the author's code fails, so does the request. */
export async function permittedUris(
  settings: Settings,
  uris: readonly string[],
  ctx: Context,
): Promise<string[]> {
  const { authorizeSubscription } = settings;
  if (authorizeSubscription === undefined) return [...uris];
  const verdicts = await Promise.all(uris.map((uri) => authorizeSubscription(uri, ctx)));
  return uris.filter((_, index) => verdicts[index] === true);
}
