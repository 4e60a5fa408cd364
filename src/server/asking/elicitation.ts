// Elicitation: a form for the user to fill in, or a page for the user to visit; and the pages that a request requires before it
// can succeed.
import {
  errorCodes,
  type HalyardError,
  InputCancelled,
  InputDeclined,
  type UrlElicitationRequired,
} from "../../base/errors.ts";
import { filledText, type Known } from "../../base/kinds.ts";
import type { Elicited, InputRequest, UrlAskOptions } from "../../protocol/asking.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { AnySchema, SchemaSettings } from "../../protocol/schema/compile.ts";
import { refuseOn } from "../../base/refused-names.ts";
import { isObject, type JsonObject, type RpcError, rpcErrorOf } from "../../base/wire/message.ts";
import { compileForm, encodeForm } from "./form.ts";
import { type AnswerReading, cannotAsk, type ClientQuestion, knownAskOptions } from "./question.ts";
import type { Call } from "../calls/call.ts";
import { callerOf } from "../context/connection.ts";
import { InputRequired } from "../catalogue/results.ts";
import { Holdings } from "../../base/limits/holdings.ts";

export const knownUrlAskOptions: Known<UrlAskOptions> = { ...knownAskOptions, elicitationId: filledText };

export const elicitationMethod = "elicitation/create";

/** A person answers, so allow ten minutes. */
const timeoutMs = 10 * 60_000;

/** The capabilities that the client must declare for each mode. */
export const elicitationNeeds: Readonly<Record<"form" | "url", ClientCapabilities>> = {
  form: { elicitation: { form: {} } },
  url: { elicitation: { url: {} } },
};

export function formQuestion(
  message: string,
  schema: AnySchema,
  revision: Revision,
  settings: SchemaSettings,
): ClientQuestion<Elicited<unknown>> {
  const compiled = compileForm(schema, settings);
  const requestedSchema = encodeForm(compiled.json, revision);
  return {
    method: elicitationMethod,
    params: encodeShape({ mode: "form", message, requestedSchema }, "elicitation", revision),
    requires: elicitationNeeds.form,
    timeoutMs,
    async read(result) {
      const { action, content = {} } = result;
      if (action !== "accept") return readRefusal(action);
      if (!isObject(content)) return { ok: false, problem: "content must be an object" };
      const outcome = await compiled.validate(content);
      if (outcome.ok) return { ok: true, value: { action, content: outcome.value } };
      return { ok: false, problem: `the content does not match the schema: ${outcome.issues.join("; ")}` };
    },
  };
}

export function urlQuestion(
  message: string,
  url: URL,
  elicitationId: string,
  revision: Revision,
): ClientQuestion<Elicited<undefined>> {
  return {
    method: elicitationMethod,
    params: urlParams(message, url, elicitationId, revision),
    requires: elicitationNeeds.url,
    timeoutMs,
    read({ action }) {
      return action === "accept" ? { ok: true, value: { action, content: undefined } } : readRefusal(action);
    },
  };
}

function urlParams(message: string, url: URL, elicitationId: string, revision: Revision): JsonObject {
  return encodeShape({ mode: "url", message, url: url.href, elicitationId }, "elicitation", revision);
}

function readRefusal(action: unknown): AnswerReading<Elicited<never>> {
  return action === "decline" || action === "cancel"
    ? { ok: true, value: { action } }
    : { ok: false, problem: "action must be accept, decline or cancel" };
}

/** Returns the content. Throws if the user declined or cancelled. */
export function accepted<Content>(message: string, elicited: Elicited<Content>): Content {
  if (elicited.action === "accept") return elicited.content;
  throw refusalOf(elicited.action, message);
}

/** Other packages resolve with `{ action, content }`; most forms have no field of that name. */
export function withoutAction(content: object, schema: AnySchema, settings: SchemaSettings): object {
  const { properties } = compileForm(schema, settings).json;
  if (!isObject(properties) || "action" in properties) return content;
  return refuseOn(content, "The answer", {
    action: "its fields, or ctx.tryElicit() for { action, content }",
  });
}

/** The error for a user who refused to answer; undefined for any other action. */
function refusalOf(action: unknown, message: string): HalyardError | undefined {
  if (action === "decline") return new InputDeclined(message);
  return action === "cancel" ? new InputCancelled(message) : undefined;
}

/** The user's refusal to open one of the pages, if the retry has it; the server does not ask again. */
export function urlRefusal(error: UrlElicitationRequired, call: Call): HalyardError | undefined {
  for (const [index, { message }] of error.elicitations.entries()) {
    const refusal = refusalOf(call.inputResponses?.[keyOf(index)]?.["action"], message);
    if (refusal) return refusal;
  }
  return undefined;
}

function keyOf(index: number): string {
  return `visit-${index + 1}`;
}

/** The pages as questions, for a revision that has no such error. */
export function urlQuestions(error: UrlElicitationRequired, call: Call): InputRequired {
  const requests = error.elicitations.map(({ message, url }, index): [string, InputRequest] => {
    const params = urlParams(message, url, "", call.protocol);
    return [keyOf(index), { method: elicitationMethod, params }];
  });
  return new InputRequired({ inputRequests: Object.fromEntries(requests) });
}

/** The error for a client whose user must open a page first. */
export function urlRequiredError(
  error: UrlElicitationRequired,
  call: Call,
  elicitationIds: ElicitationIds,
): RpcError {
  const { message: text } = error;
  const refusal = cannotAsk(call, elicitationMethod, elicitationNeeds.url);
  if (refusal) return rpcErrorOf(refusal);
  if (call.protocol.urlRequired !== "error") return { code: errorCodes.internal, message: text };
  const elicitations = error.elicitations.map(({ message, url, elicitationId = crypto.randomUUID() }) => {
    elicitationIds.remember(elicitationId, call.session, callerOf(call.exchange));
    return urlParams(message, url, elicitationId, call.protocol);
  });
  return { code: errorCodes.legacyUrlElicitationRequired, message: text, data: { elicitations } };
}

/** The client that opened a page. */
interface Sent {
  readonly session: string;
  readonly caller: string;
}

/** Remembers which client opened which page, so that only that client is notified when the user is done there. */
export class ElicitationIds {
  readonly #sent = new Map<string, Sent>();
  readonly #held: Holdings<string>;

  constructor(max: number) {
    this.#held = new Holdings(max);
  }

  /** If there are too many, forgets the oldest one of the caller with the most: that client retries by itself. */
  remember(elicitationId: string, session: string | undefined, caller: string): void {
    if (session === undefined) return;
    this.take(elicitationId);
    this.#sent.set(elicitationId, { session, caller });
    this.#held.add(caller, elicitationId);
    const { shares } = this.#held;
    if (shares.total > shares.max) this.take(this.#held.oldestOfGreediest() ?? "");
  }

  /** Returns the session that opened the page, and forgets it: it is notified once. */
  take(elicitationId: string): string | undefined {
    const sent = this.#sent.get(elicitationId);
    if (!sent) return undefined;
    this.#sent.delete(elicitationId);
    this.#held.delete(sent.caller, elicitationId);
    return sent.session;
  }
}
