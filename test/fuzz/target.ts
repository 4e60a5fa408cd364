// What is fuzzed: how it is started, given an input, asked whether it is well, and brought back to rest.
import type { Input } from "./input.ts";
import type { Random } from "./random.ts";

/** A server under test that is running. */
export interface Running {
  /** Gives it an input; resolves with what was wrong with its answer. */
  send(input: Input): Promise<string | undefined>;
  /** A good call that must be answered well, within a second. */
  check(): Promise<string | undefined>;
  /** What the target still holds after everything that was begun has been ended. */
  rest(): Promise<Holding>;
  close(): Promise<void>;
}

/** What a server holds; `heap` only where it can be measured. */
export interface Holding {
  readonly heap: number | undefined;
  /** Sessions whose response was never read, so that the test does not know their ids. */
  readonly sessions: number;
  /** Open things by name, such as sessions and sockets. */
  readonly handles: Readonly<Record<string, number>>;
}

export interface Target {
  readonly name: string;
  start(): Promise<Running>;
  input(random: Random): Input;
}
