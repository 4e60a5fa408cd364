// Elicitation: a form for the user to fill in, or a page for the user to visit.
import { type HalyardError, InputCancelled, InputDeclined } from "../../base/errors.ts";
import { filledText, type Known } from "../../base/kinds.ts";
import type { Elicited, UrlAskOptions } from "../../protocol/asking.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { AnySchema, SchemaSettings } from "../../protocol/schema/compile.ts";
import { refuseOn } from "../../base/refused-names.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { compileForm, encodeForm } from "./form.ts";
import { knownAskOptions, type ClientQuestion, type AnswerReading } from "./question.ts";

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

export function urlParams(message: string, url: URL, elicitationId: string, revision: Revision): JsonObject {
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
export function refusalOf(action: unknown, message: string): HalyardError | undefined {
  if (action === "decline") return new InputDeclined(message);
  return action === "cancel" ? new InputCancelled(message) : undefined;
}
