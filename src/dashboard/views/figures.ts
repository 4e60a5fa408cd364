// The figures of this node that come with every answer.
import { isObject } from "../../base/wire/message.ts";
import type { Counts, NodeRow } from "../answers.ts";
import type { ServedNode } from "./served-node.ts";

/** The figures that a node sends with every answer. */
export type NodeFigures = Pick<NodeRow, "version" | "uptimeMs" | "loopDelayMs" | "memoryBytes" | "counts">;

/** Milliseconds between two readings of the memory, which ask the operating system. */
const memoryMs = 5000;

export function figuresOf(node: ServedNode): NodeFigures {
  const { delay } = node.sampling.ask();
  const { calls: inFlight, ...counts } = node.window.counts();
  return {
    version: node.window.server.version,
    uptimeMs: performance.now(),
    loopDelayMs: delay.longestMs,
    memoryBytes: memory.read(),
    counts: { ...counts, inFlight },
  };
}

/** Whether another node, perhaps of another version, has sent all figures. */
export function isFigures(value: unknown): value is NodeFigures {
  if (!isObject(value) || typeof value["version"] !== "string") return false;
  const { uptimeMs, loopDelayMs, memoryBytes = 0, counts } = value;
  if (!isObject(counts)) return false;
  return [uptimeMs, loopDelayMs, memoryBytes, ...countNames.map((name) => counts[name])].every(
    Number.isFinite,
  );
}

const countNames: readonly (keyof Counts)[] = [
  "sessions",
  "streams",
  "subscriptions",
  "inFlight",
  "questions",
  "tasks",
  "unsentBytes",
  "keptBytes",
];

/** The memory of this process; undefined in a Worker. It is kept for a moment, because reading it is slow. */
const memory = {
  bytes: undefined as number | undefined,
  readAt: Number.NEGATIVE_INFINITY,
  read(): number | undefined {
    const now = performance.now();
    if (now - this.readAt < memoryMs) return this.bytes;
    this.readAt = now;
    const { process } = globalThis as { process?: { memoryUsage?: { rss?: () => number } } };
    this.bytes = process?.memoryUsage?.rss?.();
    return this.bytes;
  },
};
