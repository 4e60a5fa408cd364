// How a task asks its client, whichever form it has.
import type { InputRequest } from "../../protocol/asking.ts";
import type { Place } from "../../push/asks.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { Asker } from "../asking/question.ts";

export interface TaskAsker extends Asker {
  /** Whether a question is open. */
  readonly isAsking: boolean;
  /** The open questions, where they stand in the task. */
  readonly requests?: Readonly<Record<string, InputRequest>> | undefined;
  /** Takes answers that come with the task. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Questions may go out there too, since the result is awaited there; until the returned function is called. */
  attach(place: Place): () => void;
  /** Nobody will answer any more. */
  giveUp(problem: string): void;
}
