// Questions of a task whose client knows the extension: they stand in the task, and tasks/update brings the answers.
import { askFailed } from "../../errors.ts";
import type { AskOptions, InputRequest } from "../../protocol/asking.ts";
import type { JsonObject } from "../../wire/message.ts";
import { type Question, readResponse, toRequest } from "../asking/question.ts";
import type { TaskAsker } from "./table.ts";

interface Open {
  readonly request: InputRequest;
  /** Reads an answer; what it resolves with hands it to whoever asked. */
  readonly read: (response: JsonObject) => Promise<() => void>;
  readonly giveUp: (problem: string) => void;
}

/** Is told the method of a question that is open now; what it returns is told that it has ended, and why, if that is not with an answer. */
type Watch = (method: string) => (problem?: string) => void;

export class InputAsker implements TaskAsker {
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

  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  get requests(): Record<string, InputRequest> | undefined {
    if (!this.isAsking) return undefined;
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]));
  }

  ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.reject(askFailed(question.method, this.#problem));
    return new Promise<Answer>((resolve, reject) => {
      const { method } = question;
      const ended = this.#watch?.(method);
      const key = this.#newKey(options.key ?? method);
      const read = async (response: JsonObject): Promise<() => void> => {
        const answer = await readResponse(question, key, response);
        return () => (ended?.(), resolve(answer));
      };
      const giveUp = (problem: string): void => (ended?.(problem), reject(askFailed(method, problem)));
      this.#open.set(key, { request: toRequest(question), read, giveUp });
      this.#changed();
    });
  }

  /** Answers to questions that are not open are left aside. */
  async answer(responses: Readonly<Record<string, JsonObject>>): Promise<void> {
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key);
      if (open === undefined) continue;
      const settle = await open.read(response);
      if (!this.#open.delete(key)) continue;
      settle();
      this.#changed();
    }
  }

  giveUp(problem: string): void {
    this.#problem ??= problem;
    for (const open of this.#open.values()) open.giveUp(problem);
    this.#open.clear();
  }

  /** Its questions need no stream. */
  attach(): () => void {
    return () => {};
  }

  /** A key is never used for a second question of the same task. */
  #newKey(wanted: string): string {
    let key = wanted;
    for (let count = 2; this.#used.has(key); count++) key = `${wanted}-${count}`;
    this.#used.add(key);
    return key;
  }
}
