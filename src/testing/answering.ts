// The questions of a server to a test client: those in a result, the retry that answers them, and the answers of a function.
import { untilAborted } from "../base/async/promises.ts";
import type { Answered, QuestionAnswers, ServerQuestion as Asked } from "../client/answering/question.ts";
import { errorCodes } from "../base/errors.ts";
import type { ClientCapabilities } from "../protocol/model.ts";
import type { Revision } from "../protocol/revision.ts";
import type { JsonObject } from "../base/wire/message.ts";

/** A question from the server to the client. */
export interface Question {
  /** Its key in `inputRequests`; empty if the question is a request of its own. */
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** Returns the result that answers a question; undefined leaves it unanswered. */
export type Respond = (question: Question) => JsonObject | undefined;

/**
 * The questions in a result, in order; an empty list if there are none.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, questionsIn } from "halyard/testing";
 * import * as z from "zod";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("greet", {}, async (_, ctx) => {
 *   const { name } = await ctx.elicit("Your name?", z.object({ name: z.string() }));
 *   return `Hello, ${name}`;
 * });
 * const client = await connect(server, { revision: "2026-07-28", capabilities: { elicitation: {} } });
 * const result = await client.request("tools/call", { name: "greet" });
 * console.log(questionsIn(result).map(({ params }) => params["message"]));
 * await client.close();
 * ```
 */
export function questionsIn(result: JsonObject): Question[] {
  const requests = (result["inputRequests"] ?? {}) as Record<string, { method: string; params?: JsonObject }>;
  return Object.entries(requests).map(([key, { method, params = {} }]) => ({ key, method, params }));
}

/**
 * The parameters to add to the next request to answer the questions in a result.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, retryOf } from "halyard/testing";
 * import * as z from "zod";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("greet", {}, async (_, ctx) => {
 *   const { name } = await ctx.elicit("Your name?", z.object({ name: z.string() }));
 *   return `Hello, ${name}`;
 * });
 * const client = await connect(server, { revision: "2026-07-28", capabilities: { elicitation: {} } });
 * const asked = await client.request("tools/call", { name: "greet" });
 * const retry = retryOf(asked, () => ({ action: "accept", content: { name: "Ada" } }));
 * console.log(await client.request("tools/call", { name: "greet", ...retry }));
 * await client.close();
 * ```
 */
export function retryOf(result: JsonObject, answer: Respond): JsonObject {
  const answers = questionsIn(result).flatMap((question) => {
    const given = answer(question);
    return given === undefined ? [] : [[question.key, given] as const];
  });
  return { inputResponses: Object.fromEntries(answers), requestState: result["requestState"] };
}

/** A question of the server that the test has not answered. */
export class Unanswered extends Error {
  constructor(method: string, cause?: unknown) {
    const option = answering[method] ?? "answer";
    const problem = `The server sent ${method}, and the test client has no answer: pass ${option} to connect`;
    super(problem, cause === undefined ? undefined : { cause });
    this.name = "Unanswered";
  }
}

/** The options that answer each method. */
const answering: { readonly [method: string]: string } = {
  "elicitation/create": "onElicit",
  "sampling/createMessage": "onSample",
  "roots/list": "roots",
};

/** Answers with the function of a test, or with its handlers, and declares the capabilities that the test names. */
export class TestAnswers implements QuestionAnswers {
  readonly #declared: ClientCapabilities;
  readonly #respond: Respond | undefined;
  readonly #handlers: QuestionAnswers | undefined;
  /** The reject functions of the current waits. */
  readonly #rejections = new Set<(error: unknown) => void>();
  /** The error that the function or a handler threw, until it rejects a later wait. */
  #thrown: { readonly error: unknown } | undefined;
  /** The method of the last question that was left to the test. */
  #unanswered: string | undefined;

  constructor(
    declared: ClientCapabilities,
    respond: Respond | undefined,
    handlers: QuestionAnswers | undefined,
  ) {
    this.#declared = declared;
    this.#respond = respond;
    this.#handlers = handlers;
  }

  /** Whether the test has a function or a handler for answers. */
  get areGiven(): boolean {
    return (this.#respond ?? this.#handlers) !== undefined;
  }

  /** Returns the method of the last question that was left to the test, once. */
  takeUnanswered(): string | undefined {
    const method = this.#unanswered;
    this.#unanswered = undefined;
    return method;
  }

  get isBusy(): boolean {
    return this.#handlers?.isBusy ?? false;
  }

  get lastEndedAt(): number {
    return this.#handlers?.lastEndedAt ?? Number.NEGATIVE_INFINITY;
  }

  capabilities(revision: Revision): ClientCapabilities {
    const { extensions: _, ...handled } = this.#handlers?.capabilities(revision) ?? {};
    return { ...handled, ...this.#declared };
  }

  hold(bytes: number): (() => void) | undefined {
    return this.#handlers ? this.#handlers.hold(bytes) : () => {};
  }

  async answer(question: Asked, revision: Revision, signal: AbortSignal): Promise<Answered> {
    const { key = "", method, params } = question;
    const isModern = revision.era === "modern";
    if (this.#handlers) {
      const answered = await this.#handlers.answer(question, revision, signal);
      // The call of a modern client rejects with the error anyway.
      if (!answered.ok && answered.isFault && !isModern) this.#fail(answered.cause);
      return answered;
    }
    try {
      const result = this.#respond?.({ key, method, params });
      if (result !== undefined) return { ok: true, result };
      if (isModern) throw new Unanswered(method);
    } catch (cause) {
      if (isModern) return { ok: false, error: failure, cause };
      this.#fail(cause);
    }
    // The server waits until the test responds itself.
    this.#unanswered = method;
    return untilAborted(new Promise<never>(() => {}), signal);
  }

  /** Settles like `work`, unless the function or a handler throws before, such as with a failed assertion. */
  unlessThrown<T>(work: Promise<T>): Promise<T> {
    if (!this.areGiven) return work;
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      work.then(resolve, reject).finally(() => this.#rejections.delete(reject));
      if (this.#thrown) reject(this.#thrown.error as Error);
      this.#thrown = undefined;
    });
  }

  /** Rejects the oldest wait, or the next one. */
  #fail(error: unknown): void {
    const [reject] = this.#rejections;
    if (reject) reject(error);
    else this.#thrown = { error };
  }
}

/** The error is not sent: only the call learns why a round has no answer. */
const failure = { code: errorCodes.internal, message: "The client could not answer" };
