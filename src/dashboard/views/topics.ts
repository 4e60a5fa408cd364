// The topics: their subscribers, the last pushes, and messages that were merged because a reader was slow.
import { type SubscriptionView, textWithoutSecrets } from "../../window/index.ts";
import { maxRows, type TopicRow } from "../answers.ts";
import { maxPushes, type PushFigures, topicOf } from "../sampling/pushes.ts";
import { Finding, type RowsPart, shownRows } from "./finding.ts";
import type { NodePart, SharedView } from "./view.ts";

/** Listeners of a topic that are named. */
const maxNamed = 5;

/** A topic as one node has it. */
interface Row extends Omit<TopicRow, "pushes"> {
  readonly pushes: PushFigures["pushes"];
}

export const topics: SharedView<"topics", RowsPart<Row>> = {
  answer(node, question) {
    const { window } = node;
    const { search, sampled, now } = new Finding(node, question);
    const pushed = new Map(sampled.samples.pushes.figures(now));
    // The topics with the latest pushes come first.
    const latest = [...pushed.keys()].toReversed();
    const first = window.snapshot("subscriptions", { search, topics: latest, limit: maxRows });
    const all = window.snapshot("subscriptions", { search, limit: maxRows });
    const others = all.rows.filter(({ notification, key }) => !pushed.has(topicOf(notification, key)));
    const rows = [...first.rows, ...others].slice(0, maxRows);
    return {
      rows: rows.map((row) => rowOf(row, pushed.get(topicOf(row.notification, row.key)))),
      total: Math.max(all.total, first.total, rows.length),
    };
  },
  merge(parts) {
    const rows = mergedRows(parts);
    // Nodes mostly have the same topics, and differences are known only for the topics that they sent.
    const total = Math.max(rows.length, ...parts.map(({ part }) => part.total));
    return { rows: shownRows(rows, ({ notification, key }) => `${notification} ${key ?? ""}`), total };
  },
};

function rowOf(
  { notification, key, subscribers, peers }: SubscriptionView,
  figures: PushFigures | undefined,
): Row {
  const { pushes, pushed, merged } = figures ?? unpushed;
  const shown = key && shortened(textWithoutSecrets(key));
  const who = peers.map(({ peer, client }) => ({ peer, client }));
  return { notification, key: shown, listeners: subscribers, who, pushes, pushed, merged };
}

/** Characters of a URI that are shown: the beginning and the end, by which the long ones of a server mostly differ. */
const maxKey = 400;

function shortened(key: string): string {
  return key.length <= maxKey ? key : `${key.slice(0, maxKey / 2)}…${key.slice(1 - maxKey / 2)}`;
}

const unpushed = { pushes: [], pushed: 0, merged: 0 };

function mergedRows(parts: readonly NodePart<RowsPart<Row>>[]): TopicRow[] {
  const byTopic = new Map<string, TopicRow>();
  for (const { node, part } of parts) {
    for (const row of part.rows) {
      const topic = `${row.notification} ${row.key ?? ""}`;
      const own = { ...row, pushes: row.pushes.map(({ agoMs, delivered }) => ({ agoMs, delivered, node })) };
      const known = byTopic.get(topic);
      byTopic.set(topic, known === undefined ? own : joined(known, own));
    }
  }
  return [...byTopic.values()];
}

function joined(one: TopicRow, other: TopicRow): TopicRow {
  const pushes = [...one.pushes, ...other.pushes].toSorted((first, second) => first.agoMs - second.agoMs);
  return {
    ...one,
    listeners: one.listeners + other.listeners,
    who: [...one.who, ...other.who].slice(0, maxNamed),
    pushes: pushes.slice(0, maxPushes),
    pushed: one.pushed + other.pushed,
    merged: one.merged + other.merged,
  };
}
