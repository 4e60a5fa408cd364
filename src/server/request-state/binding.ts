// The request that a state belongs to: its method, what it names, and a digest of what the retry has to repeat.
import { toBase64Url } from "../../wire/base64.ts";
import { isObject } from "../../wire/message.ts";
import { callerOf } from "../context/connection.ts";
import type { Call } from "../calls/call.ts";
import type { Bound } from "./request-state.ts";

export function boundTo(call: Call): Bound {
  const { method, params, principal } = call;
  // No arguments are empty ones: a client may write them down when it comes back.
  const repeated = (call.row.repeats ?? []).map((name) =>
    params[name] === undefined && name === "arguments" ? {} : params[name],
  );
  const digest = async (): Promise<string> => {
    const text = new Uint8Array(new TextEncoder().encode(canonical(repeated)));
    return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", text)));
  };
  return { method, target: repeated[0], digest, principal, caller: callerOf(call.exchange) };
}

/** JSON with its members in order, since a client may write the same arguments in another; each value is written once. */
function canonical(value: unknown): string {
  const parts: string[] = [];
  write(value, parts);
  return parts.join("");
}

function write(value: unknown, parts: string[]): void {
  if (Array.isArray(value)) {
    parts.push("[");
    for (const item of value) {
      write(item, parts);
      parts.push(",");
    }
    parts.push("]");
  } else if (isObject(value)) {
    parts.push("{");
    for (const name of Object.keys(value).toSorted()) {
      parts.push(JSON.stringify(name), ":");
      write(value[name], parts);
      parts.push(",");
    }
    parts.push("}");
  } else {
    // JSON would write null for what is not there, and for a number that is too large: neither is the same as null.
    parts.push(typeof value === "string" ? JSON.stringify(value) : String(value));
  }
}
