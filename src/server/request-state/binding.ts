// Binds a state to its request: the method, the target, and a digest of the parameters that a retry must repeat.
import { toBase64Url } from "../../base/wire/base64.ts";
import { isObject } from "../../base/wire/message.ts";
import { callerOf } from "../context/connection.ts";
import type { Call } from "../calls/call.ts";
import type { Bound } from "./request-state.ts";

export function boundTo(call: Call): Bound {
  const { method, params, principal } = call;
  // Missing and empty arguments are the same: a client may add them in its retry.
  const repeated = (call.row.repeats ?? []).map((name) =>
    params[name] === undefined && name === "arguments" ? {} : params[name],
  );
  const digest = async (): Promise<string> => {
    const text = new Uint8Array(new TextEncoder().encode(canonical(repeated)));
    return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", text)));
  };
  return { method, target: repeated[0], digest, principal, caller: callerOf(call.exchange) };
}

/** Canonical JSON with sorted members, since a client may send them in another order. */
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
    // JSON.stringify would write null for undefined and for infinite numbers, which are not null.
    parts.push(typeof value === "string" ? JSON.stringify(value) : String(value));
  }
}
