// Subscriptions to resources: their limits, their authorization, and the hooks for the first and the last subscriber.
import { invalidRequest } from "../../base/errors.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import { maxUriLength } from "../../protocol/uri.ts";
import type { Hub, TopicWatch } from "../push/hub.ts";
import { subscribedBytesOf, topicOf } from "../push/topic.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { isTexts } from "../../base/wire/message.ts";
import type { Context } from "../context/context.ts";
import type { ServerLimits } from "../settings/limits.ts";
import type { Settings } from "../settings/settings.ts";

/** Calls `onSubscribed` and `onUnsubscribed`. Returns undefined if the author passed neither. */
export function watchSubscribers(settings: Settings): TopicWatch | undefined {
  const { onSubscribed, onUnsubscribed } = settings;
  if (!onSubscribed && !onUnsubscribed) return undefined;
  const prefix = topicOf(resourceUpdated, "");
  const tell = (name: string, hook: Settings["onSubscribed"], topic: string): void => {
    if (!hook || !topic.startsWith(prefix)) return;
    // The request does not wait for the hook, and an exception in it reaches only the log.
    logRejection(settings.logger, `${name}()`, Promise.resolve(topic.slice(prefix.length)).then(hook));
  };
  return {
    first: (topic) => tell("onSubscribed", onSubscribed, topic),
    last: (topic) => tell("onUnsubscribed", onUnsubscribed, topic),
  };
}

/** Whether these subscriptions are within the caller's share of `maxTotalSubscribedLength`. */
export function hasTotalRoom(hub: Hub, caller: string, topics: readonly string[]): boolean {
  const bytes = sumOf(topics, subscribedBytesOf);
  return bytes === 0 || hub.hasRoomFor(caller, bytes);
}

/** Throws if these subscriptions exceed the caller's share of `maxTotalSubscribedLength`. */
export function assertTotalRoom(hub: Hub, caller: string, topics: readonly string[]): void {
  if (!hasTotalRoom(hub, caller, topics))
    throw invalidRequest("Too many subscriptions. Request fewer, or try again later");
}

/** Returns the URIs that `authorizeSubscription` allows. If it throws, the request fails. */
export async function permittedUris(
  settings: Settings,
  uris: readonly string[],
  ctx: Context,
): Promise<string[]> {
  const { authorizeSubscription } = settings;
  if (!authorizeSubscription) return [...uris];
  const verdicts = await Promise.all(uris.map((uri) => authorizeSubscription(uri, ctx)));
  return uris.filter((_, index) => verdicts[index] === true);
}

/** Returns an error message if the keys of a filter member are invalid or exceed a limit. Checks their number first. */
export function keysProblem(
  { member, notification }: { readonly member: string; readonly notification: string },
  keys: unknown,
  { maxSubscribedKeys, maxSubscribedLength }: ServerLimits,
): string | undefined {
  if (!Array.isArray(keys)) return `${member} must be a list of strings`;
  if (keys.length > maxSubscribedKeys) return `${member} may have at most ${maxSubscribedKeys} entries`;
  if (!isTexts(keys)) return `${member} must be a list of strings`;
  if (sumOf(keys, ({ length }) => length) > maxSubscribedLength) {
    return `${member} may have at most ${maxSubscribedLength} characters`;
  }
  const isLong = notification === resourceUpdated && keys.some(({ length }) => length > maxUriLength);
  return isLong ? `${member} has a URI of more than ${maxUriLength} characters` : undefined;
}

function sumOf(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((sum, text) => sum + count(text), 0);
}
