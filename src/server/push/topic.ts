// Topics that listeners subscribe to: a notification, or a notification about one key such as a URI.
import { Frame } from "./frame.ts";

/** The topic of a notification. */
export function topicOf(notification: string, key?: string): string {
  return key === undefined ? notification : `${notification} ${key}`;
}

/** The notification of a topic, and its key if it has one. */
export function partsOf(topic: string): { readonly notification: string; readonly key: string | undefined } {
  const space = topic.indexOf(" ");
  if (space < 0) return { notification: topic, key: undefined };
  return { notification: topic.slice(0, space), key: topic.slice(space + 1) };
}

/** The characters in the key of a topic. Notification names do not count: they are few, and shared by all. */
export function keyLengthOf(topic: string): number {
  const space = topic.indexOf(" ");
  return space < 0 ? 0 : topic.length - space - 1;
}

/** The bytes that a subscription takes besides the characters of its key. */
const subscriptionBytes = 256;

/** The approximate bytes of a subscription to the topic; 0 for a topic without a key, because these are few. */
export function subscribedBytesOf(topic: string): number {
  return topic.includes(" ") ? keyLengthOf(topic) + subscriptionBytes : 0;
}

/** Returns the scopes that a listener of a topic currently needs. */
export type TopicScopes = (topic: string) => readonly string[] | undefined;

/** The notification that tells a client to read a topic again. */
export function changeFrame(topic: string, scopesOf: TopicScopes): Frame {
  const { notification, key } = partsOf(topic);
  if (key === undefined) return new Frame(topic, undefined, topic);
  return new Frame(notification, { uri: key }, topic, scopesOf(topic));
}
