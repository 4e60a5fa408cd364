// The request that a state belongs to: its method, what it names, and a digest of what the retry has to repeat.
import { toBase64Url } from "../../protocol/base64.ts";
import { isObject } from "../../wire/message.ts";
import type { Call } from "../call.ts";
import type { Bound } from "./request-state.ts";

export async function boundTo(call: Call): Promise<Bound> {
  const { method, params, principal } = call;
  const repeated = (call.row.repeats ?? []).map((name) => params[name]);
  const text = new Uint8Array(new TextEncoder().encode(canonical(repeated)));
  const digest = toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", text)));
  return { method, target: repeated[0], digest, principal };
}

/** JSON with its members in order: a client may write the same arguments in another. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value).toSorted();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}
