// Subscriptions to resources: how many, who may, and when the author hears of the first and the last subscriber.
import { invalidRequest } from "../../errors.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import { maxUriLength } from "../../protocol/uri.ts";
import type { Hub, TopicWatch } from "../../push/hub.ts";
import { topicOf } from "../../push/topic.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { Context } from "../context/context.ts";
import type { ServerLimits } from "../settings/limits.ts";
import type { Settings } from "../settings/settings.ts";

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
export function assertTotalRoom(hub: Hub, caller: string, length: number): void {
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

/** Why the keys of a member of a listen filter cannot be taken; undefined if they can. Looked at before any of them is. */
export function keysProblem(
  { member, notification }: { readonly member: string; readonly notification: string },
  keys: unknown,
  { maxSubscribedKeys, maxSubscribedLength }: ServerLimits,
): string | undefined {
  if (!Array.isArray(keys)) return `${member} must be a list of strings`;
  if (keys.length > maxSubscribedKeys) return `${member} may name ${maxSubscribedKeys} at most`;
  if (!isTexts(keys)) return `${member} must be a list of strings`;
  if (sumOf(keys, ({ length }) => length) > maxSubscribedLength) {
    return `${member} may have ${maxSubscribedLength} characters at most`;
  }
  const isLong = notification === resourceUpdated && keys.some(({ length }) => length > maxUriLength);
  return isLong ? `${member} has a URI of more than ${maxUriLength} characters` : undefined;
}

function isTexts(keys: readonly unknown[]): keys is readonly string[] {
  return keys.every((key) => typeof key === "string");
}

/** What the texts count for together. */
export function sumOf(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((sum, text) => sum + count(text), 0);
}
