// A question to the client: what is sent, what the client must be able to do, and how its answer is read.
import { errorCodes, invalidParams, ProtocolError } from "../../errors.ts";
import type { Known } from "../../options.ts";
import type { AskOptions, InputRequest } from "../../protocol/asking.ts";
import { missingCapabilities, namesOfMissing } from "../../protocol/capabilities.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { JsonObject } from "../../wire/message.ts";
import { noWayBack } from "../calls/ask-client.ts";

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
  readonly protocol: Revision;
  readonly clientCapabilities: ClientCapabilities;
  readonly session: string | undefined;
}

/** Why this client cannot be asked that: its revision has no such request, or it did not declare what it takes. */
export function cannotAsk(
  asked: Asked,
  method: string,
  requires: ClientCapabilities,
): ProtocolError | undefined {
  const { protocol, clientCapabilities } = asked;
  const hasMethod = protocol.clientRequests.has(method);
  const isKnown = hasMethod && hasFieldsFor(requires, protocol);
  const missing = isKnown ? missingCapabilities(requires, clientCapabilities) : requires;
  if (missing === undefined) return undefined;
  const unknown = hasMethod ? namesOfMissing(requires, requires) : "such request";
  const problem = isKnown
    ? `the client did not declare ${namesOfMissing(missing, clientCapabilities)}`
    : `protocol revision ${protocol.date} has no ${unknown}`;
  const message = `${method}: ${problem}`;
  return new ProtocolError(errorCodes.missingClientCapability, message, { requiredCapabilities: missing });
}

/** Pages to visit, and tools in sampling, are later than the requests that carry them, whatever a client declares. */
function hasFieldsFor({ elicitation, sampling }: ClientCapabilities, { fields }: Revision): boolean {
  const hasPages = elicitation?.["url"] === undefined || fields.elicitation.has("url");
  return hasPages && (sampling?.["tools"] === undefined || fields.sampling.has("tools"));
}

export function assertCanAsk(asked: Asked, method: string, requires: ClientCapabilities): void {
  const { protocol, session } = asked;
  // Without a session nothing is known of what the client declared, and that would be the lesser problem.
  const isLost = protocol.era === "legacy" && session === undefined && protocol.clientRequests.has(method);
  const refusal = isLost ? noWayBack(method, "session") : cannotAsk(asked, method, requires);
  if (refusal !== undefined) throw refusal;
}
