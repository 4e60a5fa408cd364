// Questions of a task whose client knows the extension: they stand in the task, and tasks/update brings the answers.
import { askFailed } from "../../errors.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import type { JsonObject } from "../../wire/message.ts";
import { type AskOptions, type Asker, type Question, readResponse, toRequest } from "../asking/question.ts";

interface Open {
  readonly question: Question<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly ended: ReturnType<Watch> | undefined;
}

/** Is told the method of a question that is open now; what it returns is told that it has ended, and why, if that is not with an answer. */
type Watch = (method: string) => (problem?: string) => void;

export class InputAsker implements Asker {
  readonly #open = new Map<string, Open>();
  readonly #used = new Set<string>();
  readonly #changed: () => void;
  readonly #watch: Watch | undefined;
  #problem: string | undefined;

  /** `changed` is called when other questions are open than before. */
  constructor(changed: () => void, watch?: Watch) {
    this.#changed = changed;
    this.#watch = watch;
  }

  /** The open questions. */
  get requests(): Record<string, InputRequest> {
    return Object.fromEntries([...this.#open].map(([key, { question }]) => [key, toRequest(question)]));
  }

  ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.reject(askFailed(question.method, this.#problem));
    return new Promise<Answer>((resolve, reject) => {
      const ended = this.#watch?.(question.method);
      const open = { question, resolve, reject, ended } as unknown as Open;
      this.#open.set(this.#newKey(options.key ?? question.method), open);
      this.#changed();
    });
  }

  /** Takes answers. Those to questions that are not open are left aside. */
  async answer(responses: Readonly<Record<string, JsonObject>>): Promise<void> {
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key);
      if (open === undefined) continue;
      const answer = await readResponse(open.question, key, response);
      if (!this.#open.delete(key)) continue;
      open.ended?.();
      open.resolve(answer);
      this.#changed();
    }
  }

  /** Nobody will answer any more. */
  giveUp(problem: string): void {
    this.#problem ??= problem;
    for (const { question, reject, ended } of this.#open.values()) {
      ended?.(problem);
      reject(askFailed(question.method, problem));
    }
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
