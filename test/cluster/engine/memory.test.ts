// The engine in memory: what it passes on at once, and what it forgets by itself.
import { type Engine, type LogEntry, memoryBackplane } from "halyard/cluster";
import { expect, test, vi } from "vitest";

interface Opened {
  readonly engine: Engine;
  /** The logs whose entries have arrived. */
  readonly arrived: string[];
}

async function open(): Promise<Opened> {
  const arrived: string[] = [];
  const receiver = {
    message: () => {},
    entry: (log: string, { text }: LogEntry) => void arrived.push(`${log}: ${text}`),
    lost: () => {},
    back: () => {},
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const engine = await memoryBackplane().open({ prefix: "p:", node: "n", receiver, logger });
  return { engine, arrived };
}

test("append() passes an entry to its followers before it returns, and to no other node", async () => {
  const { engine, arrived } = await open();
  await engine.follow(["followed"], 1000);
  const appending = [
    engine.append("followed", "one", { keepMs: 1000 }),
    engine.append("other", "two", { keepMs: 1000 }),
  ];
  expect(arrived).toEqual(["followed: one"]);
  await Promise.all(appending);
  expect(arrived).toEqual(["followed: one"]);
});

test("what has expired leaves the memory though nothing is read or written, and the last timer ends with it", async () => {
  vi.useFakeTimers();
  try {
    const { engine } = await open();
    const key = { kind: "task", tag: "1" } as const;
    await engine.create(key, "text", 5000);
    await engine.append("log", "text", { keepMs: 500_000 });
    expect(vi.getTimerCount()).toBe(2);
    await vi.advanceTimersByTimeAsync(5000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(500_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(await engine.create(key, "again", undefined)).toBeDefined();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("what expires soon leaves the memory then, though other values are kept for long", async () => {
  vi.useFakeTimers();
  try {
    const { engine } = await open();
    const start = performance.now();
    await engine.create({ kind: "task", tag: "long" }, "text", 500_000);
    await engine.create({ kind: "task", tag: "short" }, "text", 100);
    await vi.advanceTimersToNextTimerAsync();
    expect(performance.now() - start).toBe(100);
    await vi.advanceTimersToNextTimerAsync();
    expect(performance.now() - start).toBe(500_000);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
