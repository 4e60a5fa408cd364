// Questions of a task whose client knows the extension: they stand in the task, and tasks/update brings the answers.
import { HalyardError, invalidParams } from "../../errors.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import type { JsonObject } from "../../wire/message.ts";
import { type AskOptions, type Asker, type Question, toRequest } from "../asking/question.ts";

interface Open {
  readonly question: Question<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class InputAsker implements Asker {
  readonly #open = new Map<string, Open>();
  readonly #used = new Set<string>();
  readonly #changed: () => void;
  #problem: string | undefined;

  /** `changed` is called when other questions are open than before. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The open questions. */
  get requests(): Record<string, InputRequest> {
    return Object.fromEntries([...this.#open].map(([key, { question }]) => [key, toRequest(question)]));
  }

  ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.reject(failure(question, this.#problem));
    return new Promise<Answer>((resolve, reject) => {
      const open = { question, resolve, reject } as unknown as Open;
      this.#open.set(this.#newKey(options.key ?? question.method), open);
      this.#changed();
    });
  }

  /** Takes answers. Those to questions that are not open are left aside. */
  async answer(responses: Readonly<Record<string, JsonObject>>): Promise<void> {
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key);
      if (open === undefined) continue;
      const reading = await open.question.read(response);
      if (!reading.ok)
        throw invalidParams(`inputResponses: the answer to ${key} cannot be used: ${reading.problem}`);
      if (!this.#open.delete(key)) continue;
      open.resolve(reading.value);
      this.#changed();
    }
  }

  /** Nobody will answer any more. */
  giveUp(problem: string): void {
    this.#problem = problem;
    for (const { question, reject } of this.#open.values()) reject(failure(question, problem));
    this.#open.clear();
  }

  /** A key is never used for a second question of the same task. */
  #newKey(wanted: string): string {
    let key = wanted;
    for (let count = 2; this.#used.has(key); count++) key = `${wanted}-${count}`;
    this.#used.add(key);
    return key;
  }
}

function failure({ method }: Question<unknown>, problem: string): HalyardError {
  return new HalyardError("ASK_FAILED", `${method}: ${problem}`);
}
