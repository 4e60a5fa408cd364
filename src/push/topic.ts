// What listeners ask for: a notification, or a notification about one key such as a URI.
import { Frame } from "./frame.ts";

/** The topic of a notification. */
export function topicOf(notification: string, key?: string): string {
  return key === undefined ? notification : `${notification} ${key}`;
}

/** How many characters of the topic are its key; the notifications themselves are few, and the same for all. */
export function keyLengthOf(topic: string): number {
  const space = topic.indexOf(" ");
  return space < 0 ? 0 : topic.length - space - 1;
}

/** What whoever is told of a topic needs, as things are now. */
export type TopicScopes = (topic: string) => readonly string[] | undefined;

/** The notification that says no more than that something about the topic has changed. */
export function changeFrame(topic: string, scopesOf: TopicScopes): Frame {
  const space = topic.indexOf(" ");
  if (space < 0) return new Frame(topic, undefined, topic);
  return new Frame(topic.slice(0, space), { uri: topic.slice(space + 1) }, topic, scopesOf(topic));
}
