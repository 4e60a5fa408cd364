// The questions of a server to a test client: those in a result, the retry that answers them, and the answers of a function.
import { untilAborted } from "../async/promises.ts";
import type { Answered, Answers, Question as Asked } from "../client/answering/question.ts";
import { errorCodes } from "../errors.ts";
import type { ClientCapabilities } from "../protocol/model.ts";
import type { Revision } from "../protocol/revision.ts";
import type { JsonObject } from "../wire/message.ts";

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

/** The function left a question of a result to the test. */
export class Unanswered extends Error {}

/** Answers with the function of a test, and declares what the test says. */
export class TestAnswers implements Answers {
  readonly isBusy = false;
  readonly lastEndedAt: number = Number.NEGATIVE_INFINITY;
  readonly #declared: ClientCapabilities;
  readonly #respond: Respond;
  readonly #failed: (error: unknown) => void;

  /** `failed` receives what the function throws when a request of the server asks; in a round the call rejects with it. */
  constructor(declared: ClientCapabilities, respond: Respond, failed: (error: unknown) => void) {
    this.#declared = declared;
    this.#respond = respond;
    this.#failed = failed;
  }

  capabilities(): ClientCapabilities {
    return this.#declared;
  }

  hold(): () => void {
    return () => {};
  }

  async answer(
    { key = "", method, params }: Asked,
    { era }: Revision,
    signal: AbortSignal,
  ): Promise<Answered> {
    try {
      const result = this.#respond({ key, method, params });
      if (result !== undefined) return { ok: true, result };
      if (era === "modern") throw new Unanswered();
    } catch (cause) {
      if (era === "modern") return { ok: false, error: failure, cause };
      this.#failed(cause);
    }
    // The server waits: the test responds itself, or never.
    return untilAborted(new Promise<never>(() => {}), signal);
  }
}

/** Sent to nobody: only the call learns why a round has no answer. */
const failure = { code: errorCodes.internal, message: "The client could not answer" };
