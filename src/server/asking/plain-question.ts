// Questions that an author writes in the protocol's form: the capabilities that they need, and how they are sent.
import { mismatch } from "../../base/kinds.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { elicitationMethod, elicitationNeeds } from "./elicitation.ts";
import { encodeForm } from "./form.ts";
import type { ClientQuestion } from "./question.ts";
import { rootsMethod } from "./roots.ts";
import { samplingMethod, samplingNeeds, samplingParams } from "./sampling.ts";

const needs: Readonly<Record<string, (params: JsonObject) => ClientCapabilities>> = {
  [elicitationMethod]: ({ mode }) => elicitationNeeds[mode === "url" ? "url" : "form"],
  [samplingMethod]: samplingNeeds,
  [rootsMethod]: () => ({ roots: {} }),
};

/** Converts an author's request to a question. The author reads the answer. */
export function plainQuestion(request: InputRequest, revision: Revision): ClientQuestion<JsonObject> {
  const { method, params = {} } = request;
  const requires = Object.hasOwn(needs, method) ? needs[method] : undefined;
  if (!requires) {
    const problem = mismatch(Object.keys(needs).join(" or "), method);
    throw new TypeError(`The method of an input request ${problem}`);
  }
  return {
    method,
    params: paramsFor(request, revision),
    requires: requires(params),
    timeoutMs: 10 * 60_000,
    read: (result) => ({ ok: true, value: result }),
  };
}

/** Removes the fields that this revision does not have: the author writes the newest form. */
function paramsFor({ method, params }: InputRequest, revision: Revision): JsonObject | undefined {
  if (method === samplingMethod) return samplingParams(params ?? {}, revision);
  return method === elicitationMethod ? elicitationParams(params ?? {}, revision) : params;
}

function elicitationParams(params: JsonObject, revision: Revision): JsonObject {
  const { message, requestedSchema, mode = "form", url } = params;
  if (typeof message !== "string") throw new TypeError(`${elicitationMethod}: message must be a string`);
  if (mode === "url") {
    if (!URL.canParse(String(url))) throw new TypeError(`${elicitationMethod}: url must be a URL`);
    const { elicitationId = crypto.randomUUID() } = params;
    return encodeShape({ ...params, elicitationId }, "elicitation", revision);
  }
  if (!isObject(requestedSchema)) throw new TypeError(`${elicitationMethod}: requestedSchema is missing`);
  const form = encodeForm(requestedSchema, revision);
  return encodeShape({ mode, message, requestedSchema: form }, "elicitation", revision);
}
