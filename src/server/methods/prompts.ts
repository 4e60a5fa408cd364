// prompts/get: find the prompt, check its arguments, render it.
import { invalidParams } from "../../errors.ts";
import { isObject } from "../../wire/message.ts";
import { orAsk } from "../asking/input-required.ts";
import { converted, encodePrompt } from "./encode-results.ts";
import { shown } from "../calls/failure.ts";
import { toPromptResult } from "../results/results.ts";
import type { MethodHandler } from "../calls/method.ts";

export const getPrompt: MethodHandler = {
  async run(call) {
    const { name, arguments: given = {} } = call.params;
    if (typeof name !== "string") throw invalidParams("name must be a string");
    const prompt = call.core.prompts.find(name);
    if (prompt === undefined) throw invalidParams(`Unknown prompt: ${shown(name)}`);
    if (!isObject(given) || !Object.values(given).every((value) => typeof value === "string")) {
      throw invalidParams("arguments must be an object of strings");
    }
    const checked = prompt.schema ? await prompt.schema.validate(given) : ({ ok: true, value: {} } as const);
    if (!checked.ok) {
      const message = `Invalid arguments for prompt ${prompt.name}: ${checked.issues.join("; ")}`;
      throw invalidParams(message);
    }
    const returned = orAsk(await prompt.handler(checked.value, call));
    return converted("Prompt", call, () => toPromptResult(returned, prompt.options.description));
  },

  encode: encodePrompt,
};
