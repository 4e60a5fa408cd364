// The last pushes of each topic.
import type { PushEvent } from "../../diagnostics/events.ts";
import { topicOf } from "../../push/topic.ts";
import { Newest } from "./newest.ts";

const maxTopics = 1000;
/** Pushes of a topic that are kept one by one. */
export const maxPushes = 5;

/** What was pushed to one topic on one node. */
export interface PushFigures {
  readonly notification: string;
  readonly key: string | undefined;
  readonly pushed: number;
  /** Newest first. */
  readonly pushes: readonly { readonly agoMs: number; readonly delivered: number }[];
}

interface Pushed {
  readonly notification: string;
  readonly key: string | undefined;
  pushed: number;
  /** Newest first. */
  last: readonly { readonly at: number; readonly delivered: number }[];
}

export class Pushes {
  readonly #topics = new Newest<string, Pushed>(maxTopics);

  add({ notification, key, delivered }: PushEvent, now: number): void {
    const topic = topicOf(notification, key);
    const row = this.#topics.get(topic) ?? { notification, key, pushed: 0, last: [] };
    row.pushed++;
    row.last = [{ at: now, delivered }, ...row.last.slice(0, maxPushes - 1)];
    this.#topics.set(topic, row);
  }

  /** By topic. */
  *figures(now: number): IterableIterator<[topic: string, figures: PushFigures]> {
    for (const [topic, { last, ...row }] of this.#topics.entries()) {
      yield [topic, { ...row, pushes: last.map(({ at, delivered }) => ({ agoMs: now - at, delivered })) }];
    }
  }
}
