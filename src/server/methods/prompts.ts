// prompts/get: finds the prompt, validates its arguments, and renders it.
import { clip, invalidParams } from "../../base/errors.ts";
import { encodePromptResult } from "../../protocol/codec.ts";
import type { GetPromptResult } from "../../protocol/model.ts";
import { isObject } from "../../base/wire/message.ts";
import { converted, unsendable } from "../calls/failure.ts";
import type { MethodHandler } from "../calls/seams.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { resultProblem } from "../catalogue/result-checks.ts";
import { orAsk, toPromptResult } from "../catalogue/results.ts";
import { refuseNames } from "../../base/refused-names.ts";

export function getPrompt({ prompts }: Catalogue): MethodHandler {
  return {
    async run(call) {
      const { name, arguments: given = {} } = call.params;
      if (typeof name !== "string") throw invalidParams("name must be a string");
      const prompt = prompts.find(name);
      if (!prompt) throw invalidParams(`Unknown prompt: ${clip(name)}`);
      if (!isObject(given) || !Object.values(given).every((value) => typeof value === "string")) {
        throw invalidParams("arguments must be an object of strings");
      }
      const checked = prompt.schema
        ? await prompt.schema.validate(given)
        : ({ ok: true, value: noArguments() } as const);
      if (!checked.ok) {
        const message = `Invalid arguments for prompt ${prompt.name}: ${checked.issues.join("; ")}`;
        throw invalidParams(message);
      }
      const { handler } = prompt;
      const returned = orAsk(await handler(checked.value, call));
      return converted("Prompt", call, () => toPromptResult(returned, prompt.options.description));
    },

    encode(result: GetPromptResult, call) {
      const problem = resultProblem("Prompt", result);
      if (problem) throw unsendable("Prompt", problem, call);
      return encodePromptResult(result, call.protocol);
    },
  };
}

/** What other packages pass to such a handler is its context. */
const names: object = refuseNames(
  {},
  {
    subject: "args",
    methods: {},
    read: {
      "signal sessionId requestId requestInfo authInfo sendNotification sendRequest mcpReq http log reportProgress session":
        "ctx, the second parameter of the handler",
    },
  },
);

/** The arguments of a handler without a schema: an empty object. */
export function noArguments(): object {
  return Object.create(names) as object;
}
