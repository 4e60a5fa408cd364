// A task whose handler runs in this process, how it asks its client, and where.
import type { TaskEnd } from "../../diagnostics/events.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import type { Ask, AskTarget } from "../push/asks.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Asker } from "../asking/question.ts";
import type { Call } from "../calls/call.ts";
import type { TaskRecord } from "./record.ts";

/** A question of a task, without the place where it is asked. */
export type TaskAsk = Omit<Ask, keyof AskTarget>;

/** Where the client of a task can be asked. */
export interface AskPlace {
  /** Tells places apart that are lost together. */
  readonly at: unknown;
  /** Rejects with the cause `streamLost` if the client can no longer be reached there. */
  ask(ask: TaskAsk): Promise<JsonObject>;
}

/** A task whose handler runs in this process. */
export interface RunningTask {
  readonly record: TaskRecord;
  /** The call that it continues. */
  readonly call: Call;
  /** Calls `callback` when the task has ended and its end is stored, unless you call the returned function before. */
  whenDone(callback: (end: TaskEnd) => void): () => void;
  /** Passes answers to its questions. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Lets its questions use that place too, until you call the returned function. */
  attach(place: AskPlace): () => void;
  stop(status: TaskEnd, reason: string): void;
}

/** Asks the client of a task, in either form. */
export interface TaskAsker extends Asker {
  /** Whether a question is open. */
  readonly isAsking: boolean;
  /** The open questions, if the task holds them. */
  readonly requests?: Readonly<Record<string, InputRequest>> | undefined;
  /** Passes answers from `tasks/update`. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Lets questions use that place too, where the client waits for the result, until you call the returned function. */
  attach(place: AskPlace): () => void;
  /** Rejects all open and further questions. */
  giveUp(problem: string): void;
}
