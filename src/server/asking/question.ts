// A question to the client: what is sent, what the client must be able to do, and how its answer is read.
import { askFailed, errorCodes, type HalyardError, invalidParams, ProtocolError } from "../../errors.ts";
import type { Known } from "../../options.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import { missingCapabilities, namesOfMissing } from "../../protocol/capabilities.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { JsonObject } from "../../wire/message.ts";

/** How a question is asked. */
export interface AskOptions {
  /**
   * Names the question among those of the call, for a modern client's retry to find its answer.
   * @default {made of the question itself, and of how often it was asked before}
   */
  readonly key?: string;
  /** How long to wait for an answer; a sign of progress from the client starts it again. Modern clients come back when they like. */
  readonly timeoutMs?: number;
}

export const knownAskOptions: Known<AskOptions> = { key: true, timeoutMs: true };

export interface Question<Answer> {
  readonly method: InputRequest["method"];
  readonly params: JsonObject | undefined;
  readonly requires: ClientCapabilities;
  /** How long to wait when the author does not say. */
  readonly timeoutMs: number;
  /** The answer as the handler gets it, or what is wrong with it. */
  read(result: JsonObject): Reading<Answer> | Promise<Reading<Answer>>;
}

export type Reading<Answer> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly problem: string };

/** The question as a client finds it in a result, or in a task. */
export function toRequest({ method, params }: Question<unknown>): InputRequest {
  return params === undefined ? { method } : { method, params };
}

/** The answer that a client brought under a key; throws what it is told when that answers something else. */
export async function readResponse<Answer>(
  question: Question<Answer>,
  key: string,
  response: JsonObject,
): Promise<Answer> {
  const reading = await question.read(response);
  if (reading.ok) return reading.value;
  throw invalidParams(`inputResponses: the answer to ${key} cannot be used: ${reading.problem}`);
}

/** Puts questions to the client in the one way that this call allows. */
export interface Asker {
  ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer>;
}

/** Who would be asked. */
export interface Asked {
  readonly table: Revision;
  readonly clientCapabilities: ClientCapabilities;
  readonly session: string | undefined;
}

/** What it takes to ask a client, for each thing that may be missing. */
const remedies = {
  modern:
    "a modern client takes no requests: ask with ctx.elicit, ctx.sample or ctx.roots, in a tool, prompt or resource",
  session: 'it has no session: serve it with mode "both" or "stateful"',
  stream: "it must accept text/event-stream, or open the stream of its session",
};

export function noWayBack(method: string, missing: keyof typeof remedies): HalyardError {
  return askFailed(method, `this client cannot be asked: ${remedies[missing]}`);
}

/** Why this client cannot be asked that: its revision has no such request, or it did not declare what it takes. */
export function cannotAsk(
  asked: Asked,
  method: string,
  requires: ClientCapabilities,
): ProtocolError | undefined {
  const { table, clientCapabilities } = asked;
  const hasMethod = table.clientRequests.has(method);
  const isKnown = hasMethod && hasFieldsFor(requires, table);
  const missing = isKnown ? missingCapabilities(requires, clientCapabilities) : requires;
  if (missing === undefined) return undefined;
  const unknown = hasMethod ? namesOfMissing(requires, requires) : "such request";
  const problem = isKnown
    ? `the client did not declare ${namesOfMissing(missing, clientCapabilities)}`
    : `protocol revision ${table.date} has no ${unknown}`;
  const message = `${method}: ${problem}`;
  return new ProtocolError(errorCodes.missingClientCapability, message, { requiredCapabilities: missing });
}

/** Pages to visit, and tools in sampling, are later than the requests that carry them, whatever a client declares. */
function hasFieldsFor({ elicitation, sampling }: ClientCapabilities, { fields }: Revision): boolean {
  const hasPages = elicitation?.["url"] === undefined || fields.elicitation.has("url");
  return hasPages && (sampling?.["tools"] === undefined || fields.sampling.has("tools"));
}

export function assertCanAsk(asked: Asked, method: string, requires: ClientCapabilities): void {
  const { table, session } = asked;
  // Without a session nothing is known of what the client declared, and that would be the lesser problem.
  const isLost = table.era === "legacy" && session === undefined && table.clientRequests.has(method);
  const refusal = isLost ? noWayBack(method, "session") : cannotAsk(asked, method, requires);
  if (refusal !== undefined) throw refusal;
}
