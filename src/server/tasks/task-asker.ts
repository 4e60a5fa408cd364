// A task whose handler runs in this process, and how it asks its client. If the client supports the extension, the task holds
// the questions, and `tasks/update` brings the answers.
import { askFailed } from "../../base/errors.ts";
import type { AskOptions, InputRequest } from "../../protocol/asking.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { type Asker, type ClientQuestion, readResponse, toRequest } from "../asking/question.ts";
import type { Call } from "../calls/call.ts";
import type { TaskEnd } from "../diagnostics/events.ts";
import type { Ask, AskTarget } from "../push/asks.ts";
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
