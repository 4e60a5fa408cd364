// The last pushes of each topic.
import type { MergeEvent, PushEvent } from "../../window/index.ts";
import { Newest } from "./newest.ts";

/** Topics whose pushes are counted. Past it, the one that was pushed to longest ago is dropped. */
const maxTopics = 1000;
/** Last pushes of a topic. Past it, older ones are only counted. */
export const maxPushes = 5;

/** What was pushed to one topic on one node. */
export interface PushFigures {
  readonly notification: string;
  readonly key: string | undefined;
  readonly pushed: number;
  readonly merged: number;
  /** Newest first. */
  readonly pushes: readonly { readonly agoMs: number; readonly delivered: number }[];
}

interface Pushed {
  readonly notification: string;
  readonly key: string | undefined;
  pushed: number;
  merged: number;
  /** Newest first. */
  last: readonly { readonly at: number; readonly delivered: number }[];
}

export class Pushes {
  readonly #topics = new Newest<string, Pushed>(maxTopics);

  add({ notification, key, delivered }: PushEvent, now: number): void {
    const row = this.#row(topicOf(notification, key), notification, key);
    row.pushed++;
    row.last = [{ at: now, delivered }, ...row.last.slice(0, maxPushes - 1)];
  }

  /** A message of the topic replaced one that waited in a mailbox. */
  merged({ notification, key }: MergeEvent): void {
    this.#row(topicOf(notification, key), notification, key).merged++;
  }

  /** By topic. */
  *figures(now: number): IterableIterator<[topic: string, figures: PushFigures]> {
    for (const [topic, { last, ...row }] of this.#topics.entries()) {
      yield [topic, { ...row, pushes: last.map(({ at, delivered }) => ({ agoMs: now - at, delivered })) }];
    }
  }

  #row(topic: string, notification: string, key: string | undefined): Pushed {
    const row = this.#topics.get(topic) ?? { notification, key, pushed: 0, merged: 0, last: [] };
    this.#topics.set(topic, row);
    return row;
  }
}

/** The notification of a topic, and its key if it has one. */
export function topicOf(notification: string, key: string | undefined): string {
  return key === undefined ? notification : `${notification} ${key}`;
}
