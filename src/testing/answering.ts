// What a server asks in place of a result, and the retry that answers it.
import type { JsonObject } from "../wire/message.ts";

/** What the server asks the client. */
export interface Question {
  /** Its key among those of the same result; empty for a request of its own. */
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** Gives the result that answers a question; undefined leaves it unanswered. */
export type Respond = (question: Question) => JsonObject | undefined;

/**
 * The questions of a result, in their order; none if it asks nothing.
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
 * What the next request adds to its parameters to answer the questions of a result.
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
