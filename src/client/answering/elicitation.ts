// Elicitation: questions to the user, as forms to fill in or pages to visit.
import { clip } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type {
  ElicitAnswer,
  ElicitOption,
  FormQuestion,
  OnElicit,
  UrlQuestion,
} from "../settings/handlers.ts";
import { contentProblem, withFieldDefaults } from "./form.ts";
import { mistake, type QuestionReading, refused } from "./question.ts";
import { readFormSchema } from "./requested-form.ts";

/** The handler of each mode. */
export interface ElicitHandlers {
  readonly form?: OnElicit<FormQuestion> | undefined;
  readonly url?: OnElicit<UrlQuestion> | undefined;
}

export function elicitHandlers(option: ElicitOption | undefined): ElicitHandlers {
  return typeof option === "function" ? { form: option, url: option } : (option ?? {});
}

/** What the client declares: the modes that have handlers, or an empty object where a revision has only forms. */
export function elicitCapability({ form, url }: ElicitHandlers, revision: Revision): JsonObject | undefined {
  if (!revision.clientRequests.has("elicitation/create")) return undefined;
  if (!revision.fields.elicitation.has("mode")) return form && {};
  return form || url ? { ...(form && { form: {} }), ...(url && { url: {} }) } : undefined;
}

export function readElicitation(
  params: JsonObject,
  handlers: ElicitHandlers,
  revision: Revision,
): QuestionReading {
  const { mode = "form", message } = params;
  const declared = elicitCapability(handlers, revision) ?? {};
  const { form, url } = handlers;
  if (typeof message !== "string") return refused("message must be a string");
  if (mode === "url" && url && "url" in declared) return readPage(params, message, url);
  if (mode === "form" && form) return readForm(params, message, form);
  return refused(`The client did not declare elicitation in the mode ${clip(JSON.stringify(mode))}`);
}

function readForm(params: JsonObject, message: string, handler: OnElicit<FormQuestion>): QuestionReading {
  const read = readFormSchema(params["requestedSchema"]);
  if (!read.ok) return refused(read.problem);
  const requestedSchema = read.form;
  return {
    ok: true,
    ask: async (context) => {
      const answer = await handler({ mode: "form", message, requestedSchema, params }, context);
      const action = actionOf(answer);
      if (action !== "accept") return { action };
      const { content: filled = {} } = answer as { readonly content?: unknown };
      if (!isObject(filled)) throw mistake("onElicit", "content must be an object");
      const content = withFieldDefaults(filled, requestedSchema);
      const wrong = contentProblem(content, requestedSchema);
      if (wrong !== undefined) throw mistake("onElicit", `content does not match the form: ${wrong}`);
      return { action, content };
    },
  };
}

function readPage(params: JsonObject, message: string, handler: OnElicit<UrlQuestion>): QuestionReading {
  const { url, elicitationId } = params;
  // Refuse other schemes: a URL such as `javascript:` could run code in the browser that opens it.
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return refused("url must be an absolute URL with http or https");
  const question: UrlQuestion = {
    mode: "url",
    message,
    url,
    elicitationId: typeof elicitationId === "string" ? elicitationId : undefined,
    params,
  };
  // Accepting a page only means consent: the answer has no content for what the user does there.
  return { ok: true, ask: async (context) => ({ action: actionOf(await handler(question, context)) }) };
}

function actionOf(answer: unknown): ElicitAnswer["action"] {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action === "accept" || action === "decline" || action === "cancel") return action;
  throw mistake(
    "onElicit",
    'action must be "accept", "decline" or "cancel": return { action: "accept", content }',
  );
}
