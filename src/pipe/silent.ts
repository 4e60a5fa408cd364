// Telling requests from all else before anything is made of them: a server that ends takes no more requests.
import { parseJson } from "../wire/json.ts";
import type { MessageLimits } from "../wire/limits.ts";
import { isSilent } from "../wire/message.ts";

/** Whether a text is a message that asks for no reply. */
export function isSilentText(text: string, limits: MessageLimits): boolean {
  const parsed = parseJson(text, limits);
  return parsed.ok && isSilent(parsed.value);
}
