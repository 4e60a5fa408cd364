// The messages of a followed client: those behind entries of its timeline, or all of them as a recording.
import type { RecordedLine } from "../../client/index.ts";
import type { Messages } from "../answers.ts";
import { bytesOf, maxBusBytes } from "./bus-size.ts";
import type { NodePart, SharedView } from "./view.ts";
import type { ServedNode } from "./served-node.ts";

type MessagesPart = Omit<Messages, "nodes">;

export const messages: SharedView<"messages", MessagesPart> = {
  answer: (node, { peer, entries }) => linesOf(node, peer, entries),
  merge: (parts) => merged(parts),
};

export const recording: SharedView<"recording", MessagesPart> = {
  answer: (node, { peer }) => linesOf(node, peer),
  merge: (parts) => merged(parts),
};

async function linesOf(node: ServedNode, peer: string, entries?: readonly string[]): Promise<MessagesPart> {
  const track = node.clients.find(peer)?.track;
  if (track === undefined) return { lines: [], dropped: 0 };
  const { isAlone } = node.window.nodes;
  const count = track.count(entries);
  const lines = await track.lines(entries, isAlone ? Number.POSITIVE_INFINITY : maxBusBytes);
  const sent = isAlone ? lines : newest(lines);
  return { lines: sent, dropped: track.droppedMessages + count - sent.length };
}

function newest(lines: readonly RecordedLine[]): readonly RecordedLine[] {
  let left = maxBusBytes;
  const last = lines.findLastIndex((line) => (left -= bytesOf(line)) < 0);
  return lines.slice(last + 1);
}

function merged(parts: readonly NodePart<MessagesPart>[]): MessagesPart {
  const lines = parts.flatMap(({ part, aheadMs }) => part.lines.map((line) => onClock(line, aheadMs)));
  return {
    lines: lines.toSorted((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0)),
    dropped: parts.reduce((sum, { part }) => sum + part.dropped, 0),
  };
}

/** The line with its time as the clock of the node that was asked has it. */
function onClock(line: RecordedLine, aheadMs: number): RecordedLine {
  if (aheadMs === 0) return line;
  return { ...line, time: new Date(Date.parse(line.time) - aheadMs).toISOString() };
}
