// The names and the noise that all made-up answers are made of.
import type { Counts } from "../../src/dashboard/answers.ts";

export const tools = [
  "list_berths",
  "book_berth",
  "tide_table",
  "weigh_cargo",
  "ask_pilot",
  "long_crossing",
] as const;
export const clients = [
  "claude-code 2.1.4",
  "inspector 0.19.0",
  "cursor 1.9.2",
  "acme-agent 0.3.0",
  "halyard 0.1.0",
] as const;
export const nodeNames = ["10.0.0.11:3000", "10.0.0.12:3000", "10.0.0.13:3000"] as const;

/** A number from 0 to 1, the same for the same seed. */
export function noise(seed: number, salt = 0): number {
  const value = Math.sin(seed * 127.1 + salt * 311.7) * 43_758.545;
  return value - Math.floor(value);
}

export function pick<Value>(values: readonly [Value, ...Value[]], seed: number): Value {
  return values[Math.abs(seed) % values.length] ?? values[0];
}

/** What is open: `share` of a busy server, a little different every second. */
export function counted(share: number, salt = 0): Counts {
  const second = Math.floor(Date.now() / 1_000);
  const about = (value: number, spread: number, seed: number): number =>
    Math.round(share * (value + spread * noise(second, seed + salt)));
  return {
    sessions: about(10_020, 40, 1),
    streams: about(3_110, 20, 2),
    subscriptions: about(812, 6, 3),
    inFlight: about(4, 9, 4),
    questions: about(2, 2, 5),
    tasks: about(5, 2, 6),
    unsentBytes: about(18_000, 40_000, 7),
    keptBytes: about(4_100_000, 90_000, 8),
  };
}
