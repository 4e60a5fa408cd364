// The questions of a task whose client supports the extension: the task holds them, and `tasks/update` brings the answers.
import { askFailed } from "../../base/errors.ts";
import type { AskOptions, InputRequest } from "../../protocol/asking.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { type ClientQuestion, readResponse, toRequest } from "../asking/question.ts";
import type { TaskAsker } from "./running-task.ts";

interface Open {
  readonly request: InputRequest;
  /** Reads an answer. The function it resolves with passes the answer to the handler. */
  readonly read: (response: JsonObject) => Promise<() => void>;
  readonly giveUp: (problem: string) => void;
}

/** Called when a question is sent. The function it returns is called when the question ends, with a problem if it failed. */
type Watch = (method: string) => (problem?: string) => void;

export class InputAsker implements TaskAsker {
  readonly #open = new Map<string, Open>();
  readonly #used = new Set<string>();
  readonly #changed: () => void;
  readonly #watch: Watch;
  #problem: string | undefined;

  /** `changed` is called when the set of open questions changes. */
  constructor(changed: () => void, watch: Watch) {
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

  ask<Answer>(question: ClientQuestion<Answer>, options: AskOptions): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.reject(askFailed(question.method, this.#problem));
    return new Promise<Answer>((resolve, reject) => {
      const { method } = question;
      const ended = this.#watch(method);
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

  /** Ignores answers to questions that are not open. */
  async answer(responses: Readonly<Record<string, JsonObject>>): Promise<void> {
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key);
      if (!open) continue;
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

  /** Does nothing: these questions need no stream. */
  attach(): () => void {
    return () => {};
  }

  /** Returns a key that no other question of the task has used. */
  #newKey(wanted: string): string {
    let key = wanted;
    for (let count = 2; this.#used.has(key); count++) key = `${wanted}-${count}`;
    this.#used.add(key);
    return key;
  }
}
