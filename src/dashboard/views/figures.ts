// The figures of this node that come with every answer. What takes long to count is counted less often.
import type { Counts, NodeRow } from "../answers.ts";
import type { ServedNode } from "./served-node.ts";

/** What a node tells of itself. */
export type NodeFigures = Pick<NodeRow, "version" | "uptimeMs" | "loopDelayMs" | "memoryBytes" | "counts">;

/** Milliseconds between two readings of the memory, which ask the operating system. */
const memoryMs = 5000;
/** Milliseconds between two counts for each thing that was counted: 10,000 sessions are counted every two seconds. */
const countMs = 0.2;

export function figuresOf(node: ServedNode): NodeFigures {
  const { delay } = node.looking.ask();
  return {
    version: node.core.info.version,
    uptimeMs: performance.now(),
    loopDelayMs: delay.longestMs,
    memoryBytes: memory.read(),
    counts: countsOf(node),
  };
}

function countsOf(node: ServedNode): Counts {
  const { core, endpoint, looking } = node;
  return {
    ...openOn(node),
    inFlight: [...looking.ask().running.calls()].length,
    questions: core.asks.size,
    tasks: core.tasks.runs.size,
    unsentBytes: endpoint.unsent.bytes,
    keptBytes: endpoint.state.logs.bytes,
  };
}

type Open = Pick<Counts, "sessions" | "streams" | "subscriptions">;

const counted = new WeakMap<ServedNode, { readonly open: Open; readonly until: number }>();

/** What is open on the node, counted at most as often as its number allows. */
function openOn(node: ServedNode): Open {
  const now = performance.now();
  const last = counted.get(node);
  if (last !== undefined && now < last.until) return last.open;
  const open = countOpen(node);
  const until = now + (open.sessions + open.streams + open.subscriptions) * countMs;
  counted.set(node, { open, until });
  return open;
}

function countOpen({ core, endpoint }: ServedNode): Open {
  let sessions = 0;
  let subscriptions = 0;
  for (const { session } of core.hub.listeners) {
    if (session === undefined) subscriptions++;
    else sessions++;
  }
  const { state, legacySse } = endpoint;
  let streams = state.listens.size + (legacySse?.size ?? 0);
  for (const { session } of state.sessions.copies) {
    for (const stream of session.streams.all) if (stream.state === "open") streams++;
  }
  return { sessions, streams, subscriptions };
}

/** The memory of this process, where there is one. */
const memory = {
  bytes: undefined as number | undefined,
  readAt: Number.NEGATIVE_INFINITY,
  read(): number | undefined {
    const now = performance.now();
    if (now - this.readAt < memoryMs) return this.bytes;
    this.readAt = now;
    this.bytes = (globalThis as { process?: Partial<NodeJS.Process> }).process?.memoryUsage?.rss?.();
    return this.bytes;
  },
};
