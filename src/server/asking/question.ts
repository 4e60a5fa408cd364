// A question to the client: the request, the capabilities that it needs, its key among the questions of a call, and how to read
// the answer.
import { invalidParams, missingCapability, type ProtocolError } from "../../base/errors.ts";
import { filledText, type Known, milliseconds } from "../../base/kinds.ts";
import type { AskOptions, InputRequest } from "../../protocol/asking.ts";
import { missingCapabilities, namesOfMissing } from "../../protocol/capabilities.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { noWayBack } from "../calls/ask-client.ts";

export const knownAskOptions: Known<AskOptions> = { key: filledText, timeoutMs: milliseconds };

export interface ClientQuestion<Answer> {
  readonly method: InputRequest["method"];
  readonly params: JsonObject | undefined;
  readonly requires: ClientCapabilities;
  /** The default timeout. */
  readonly timeoutMs: number;
  /** Reads the answer, or says what is wrong with it. */
  read(result: JsonObject): AnswerReading<Answer> | Promise<AnswerReading<Answer>>;
}

export type AnswerReading<Answer> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly problem: string };

/** The question as a result or a task carries it. */
export function toRequest({ method, params }: ClientQuestion<unknown>): InputRequest {
  return params === undefined ? { method } : { method, params };
}

/** Checks that the `inputResponses` of a client are an object of results. */
export function readResponses(value: unknown): Readonly<Record<string, JsonObject>> {
  if (isObject(value) && Object.values(value).every(isObject)) return value as Record<string, JsonObject>;
  throw invalidParams("inputResponses must be an object of results");
}

/** Reads the answer under a key of `inputResponses`. Throws the error for the client if it is invalid. */
export async function readResponse<Answer>(
  question: ClientQuestion<Answer>,
  key: string,
  response: JsonObject,
): Promise<Answer> {
  const reading = await question.read(response);
  if (reading.ok) return reading.value;
  throw invalidParams(`inputResponses: the answer to ${key} is invalid: ${reading.problem}`);
}

/** Sends questions to the client, in the one way that this call allows. */
export interface Asker {
  ask<Answer>(question: ClientQuestion<Answer>, options: AskOptions): Promise<Answer>;
}

/** The client that would be asked. */
interface AskedClient {
  readonly protocol: Revision;
  readonly clientCapabilities: ClientCapabilities;
  readonly session: string | undefined;
}

/** Returns an error if this client cannot be asked: its revision lacks the request, or it did not declare a capability. */
export function cannotAsk(
  asked: AskedClient,
  method: string,
  requires: ClientCapabilities,
): ProtocolError | undefined {
  const { protocol, clientCapabilities } = asked;
  const hasMethod = protocol.clientRequests.has(method);
  const isKnown = hasMethod && hasFieldsFor(requires, protocol);
  const missing = isKnown ? missingCapabilities(requires, clientCapabilities) : requires;
  if (!missing) return undefined;
  const unknown = hasMethod ? namesOfMissing(requires, requires) : "such request";
  const problem = isKnown
    ? `the client did not declare ${namesOfMissing(missing, clientCapabilities)}`
    : `protocol revision ${protocol.date} has no ${unknown}`;
  return missingCapability(`${method}: ${problem}`, missing);
}

/** URL elicitation and tools in sampling are newer than the requests that carry them, whatever a client declares. */
function hasFieldsFor({ elicitation, sampling }: ClientCapabilities, { fields }: Revision): boolean {
  const hasPages = elicitation?.["url"] === undefined || fields.elicitation.has("url");
  return hasPages && (sampling?.["tools"] === undefined || fields.sampling.has("tools"));
}

export function assertCanAsk(asked: AskedClient, method: string, requires: ClientCapabilities): void {
  const { protocol, session } = asked;
  // Without a session the client's capabilities are unknown, and the missing session is the problem to report.
  const isLost = protocol.era === "legacy" && session === undefined && protocol.clientRequests.has(method);
  const refusal = isLost ? noWayBack(method, "session") : cannotAsk(asked, method, requires);
  if (refusal) throw refusal;
}

export interface Named {
  readonly key: string;
  /** Identifies the question, to check that an answer under this key belongs to it. */
  readonly fingerprint: string;
}

/** Names the questions of one run of a handler, so that a later run finds their answers. */
export class QuestionKeys {
  readonly #used = new Set<string>();
  /** Whether an author may use a key for several questions; they get numbers. */
  mayRepeat = false;

  /** Names a question, the same way in every run. Throws if the author has used the key for another question. */
  name(question: ClientQuestion<unknown>, given: string | undefined): Named {
    if (given !== undefined && !this.mayRepeat && this.#used.has(given)) {
      throw new TypeError(`Two questions of one call have the key "${given}": use different keys`);
    }
    const fingerprint = fingerprintOf(question);
    const wanted = given ?? fingerprint;
    let key = wanted;
    for (let count = 2; this.#used.has(key); count++) key = `${wanted}-${count}`;
    this.#used.add(key);
    return { key, fingerprint };
  }

  /** Starts another run of the same handler, which asks the same questions again. */
  startOver(): void {
    this.#used.clear();
  }
}

/**
 * Identifies a question by FNV-1a in two lanes. It need not resist attacks: only the client that answers could make two
 * questions collide. A random `elicitationId` is left out, since it differs in every run.
 */
function fingerprintOf({ method, params }: ClientQuestion<unknown>): string {
  const text = JSON.stringify([method, params && { ...params, elicitationId: undefined }]);
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code ^ (one >>> 15), 0x85ebca6b);
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36);
}
