// The questions of a task: each generation of tasks has its own way to ask them and to receive the answers.
import type { JsonObject } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import { answerAll, readQuestions } from "../answering/rounds.ts";
import type { ClientCore } from "../calls/core.ts";
import { InvalidResponse, RpcRejection } from "../settings/errors.ts";
import { isPassing, type ReadTask, taskHasEnded, type TaskOptions, type TaskRequests } from "./task.ts";
import { shownId } from "../settings/shown.ts";

/** Answers the questions that a task waits for. */
export interface TaskInput {
  /** Called each time the task is seen to wait for input. */
  look(task: ReadTask): void;
}

/** The parts that answering questions needs. */
export interface InputParts {
  readonly core: ClientCore;
  readonly answers: QuestionAnswers;
  readonly requests: TaskRequests;
  /** The keys of the questions that were asked: each is asked once for each task. */
  readonly asked: Set<string>;
  readonly options: TaskOptions & { readonly signal: AbortSignal };
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: unknown) => void;
}

/** For tasks of the extension, which hold their questions: `tasks/update` sends the answers. */
export class UpdateInput implements TaskInput {
  readonly #parts: InputParts;
  /** Answers that did not reach the server. */
  #unsent: JsonObject | undefined;

  constructor(parts: InputParts) {
    this.#parts = parts;
  }

  look(task: ReadTask): void {
    const { core, asked, reject } = this.#parts;
    const { maxQuestions, maxRounds } = core.limits;
    const questions = readQuestions(task.body["inputRequests"] ?? {}, core.limits);
    const open = questions.filter(([key]) => !asked.has(key));
    if (asked.size + open.length > maxQuestions * maxRounds) {
      const problem = `Task ${shownId(task.id)} asks more than ${maxQuestions * maxRounds} questions`;
      throw new InvalidResponse(`${problem}: raise limits.maxRounds or limits.maxQuestions if it needs more`);
    }
    if (open.length > 0) this.#answer(open).catch(reject);
    if (this.#unsent !== undefined) this.#send(this.#unsent).catch(reject);
  }

  async #answer(questions: ReturnType<typeof readQuestions>): Promise<void> {
    const { core, answers, asked, options } = this.#parts;
    for (const [key] of questions) asked.add(key);
    try {
      const given = await answerAll(questions, answers, core.peer.revision, options.signal);
      await this.#send(given);
    } catch (error) {
      // The server has no answers, so the next wait for the task asks these questions again.
      for (const [key] of questions) asked.delete(key);
      throw error;
    }
  }

  async #send(inputResponses: JsonObject): Promise<void> {
    const { requests, options } = this.#parts;
    this.#unsent = undefined;
    try {
      await requests.send("tasks/update", { inputResponses }, options);
    } catch (error) {
      if (isPassing(error)) this.#unsent = { ...(this.#unsent as JsonObject | undefined), ...inputResponses };
      // The task may have ended meanwhile, and then it needs no answers.
      else if (!(error instanceof RpcRejection) || !taskHasEnded((await requests.get(options)).state))
        throw error;
    }
  }
}

/** For tasks of 2025-11-25, which ask by requests on the stream of `tasks/result`. */
export class ResultInput implements TaskInput {
  readonly #parts: InputParts;
  #isOpen = false;

  constructor(parts: InputParts) {
    this.#parts = parts;
  }

  look(): void {
    if (this.#isOpen) return;
    const { requests, options, resolve } = this.#parts;
    this.#isOpen = true;
    const closed = (): void => void (this.#isOpen = false);
    // If the request fails, the next look at the task decides what to do.
    requests.send("tasks/result", {}, { ...options, isStream: true }).then(resolve, closed);
  }
}
