// The topics: their subscribers, the last pushes, and messages that were merged because a reader was slow.
import { textWithoutSecrets } from "../../client/redaction/messages.ts";
import type { Listener, Stream } from "../../server/push/listener.ts";
import type { TopicRow } from "../answers.ts";
import type { Look } from "../sampling/looking.ts";
import { maxPushes, type PushFigures, splitTopic } from "../sampling/pushes.ts";
import { clientOfListen } from "./census.ts";
import { clientOf, clientOfListener, type ShownClient } from "./clients.ts";
import { Finding, type RowsPart, shownRows } from "./finding.ts";
import type { ServedNode } from "./served-node.ts";
import type { NodePart, SharedView } from "./view.ts";

/** Listeners of a topic that are named. */
const maxNamed = 5;

/** A topic as one node has it. */
interface Row extends Omit<TopicRow, "pushes"> {
  readonly pushes: PushFigures["pushes"];
}

export const topics: SharedView<"topics", RowsPart<Row>> = {
  answer(node, question) {
    const finding = new Finding<Row>(node, question);
    const { hub } = node.core;
    const nameOf = namesOn(finding.look, node);
    const pushed = new Map(finding.look.samples.pushes.figures(finding.now));
    const add = (topic: string, listeners: ReadonlySet<Listener> | undefined): void => {
      if (!finding.isSearch || finding.matches(topic.toLowerCase()))
        finding.add(() => rowOf(topic, listeners, pushed.get(topic), nameOf));
    };
    // The topics with the latest pushes come first.
    for (const topic of [...pushed.keys()].toReversed()) add(topic, hub.topics.get(topic));
    for (const [topic, listeners] of hub.topics) {
      if (!pushed.has(topic)) add(topic, listeners);
    }
    return finding.part();
  },
  merge(parts) {
    const rows = mergedRows(parts);
    // Nodes mostly have the same topics, and differences are known only for the topics that they sent.
    const total = Math.max(rows.length, ...parts.map(({ part }) => part.total));
    return { rows: shownRows(rows, ({ notification, key }) => `${notification} ${key ?? ""}`), total };
  },
};

function rowOf(
  topic: string,
  listeners: ReadonlySet<Listener> | undefined,
  figures: PushFigures | undefined,
  nameOf: (listener: Listener) => ShownClient,
): Row {
  const [notification, key] = splitTopic(topic);
  const who: TopicRow["who"][number][] = [];
  for (const listener of listeners ?? []) {
    if (who.length === maxNamed) break;
    const { peer, client } = nameOf(listener);
    who.push({ peer, client });
  }
  const { pushes, pushed, merged } = figures ?? unpushed;
  const shown = key && shortened(textWithoutSecrets(key));
  return { notification, key: shown, listeners: listeners?.size ?? 0, who, pushes, pushed, merged };
}

/** Characters of a URI that are shown: the beginning and the end, by which the long ones of a server mostly differ. */
const maxKey = 400;

function shortened(key: string): string {
  return key.length <= maxKey ? key : `${key.slice(0, maxKey / 2)}…${key.slice(1 - maxKey / 2)}`;
}

const unpushed = { pushes: [], pushed: 0, merged: 0 };

/** Names the client of a listener. Those of listen requests are found by their streams, once one of them is wanted. */
function namesOn(look: Look, { endpoint }: ServedNode): (listener: Listener) => ShownClient {
  const { state, legacySse } = endpoint;
  let byStream: Map<Stream, ShownClient> | undefined;
  const listens = (): Map<Stream, ShownClient> => {
    const found = new Map<Stream, ShownClient>();
    for (const { connection, openStream } of state.listens) {
      if (openStream !== undefined) found.set(openStream, clientOfListen(look, connection));
    }
    return found;
  };
  return (listener) => {
    const { session, stream } = listener;
    if (session === undefined) return (byStream ??= listens()).get(stream) ?? clientOfListener(listener);
    const found = state.sessions.peek(session);
    if (found !== undefined) return clientOf(found.connection);
    if (listener.transport !== "sse") return clientOfListener(listener);
    for (const { pipe } of legacySse?.clients.values() ?? [])
      if (pipe.connection.session === session) return clientOf(pipe.connection);
    return clientOfListener(listener);
  };
}

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
