// Telling requests from all else before anything is made of them: a server that ends takes no more requests.
import { parseJson } from "../wire/json.ts";
import type { MessageLimits } from "../wire/limits.ts";
import { readMessage } from "../wire/message.ts";

/** Whether a text is a message that asks for no reply: an answer, or a notification. */
export function isSilent(text: string, limits: MessageLimits): boolean {
  const parsed = parseJson(text, limits);
  const read = parsed.ok ? readMessage(parsed.value) : undefined;
  return read?.ok === true && read.kind !== "request";
}
