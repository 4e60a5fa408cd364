// Binds a state to its request: the method, the target, and a digest of the parameters that a retry must repeat.
import { toBase64Url } from "../../base/wire/base64.ts";
import { isObject } from "../../base/wire/message.ts";
import type { Principal } from "../../protocol/model.ts";
import { principalKey } from "../../protocol/principal.ts";
import { callerOf } from "../context/connection.ts";
import type { Call } from "../calls/call.ts";

/** The request that a state belongs to. */
export interface Bound {
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target: unknown;
  /** A digest of the parameters that the retry must repeat; computed only for a state that can be opened. */
  digest(): Promise<string>;
  readonly principal: Principal | undefined;
  /** The key under which shared limits count the caller. */
  readonly caller: string;
}

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

/** The claims that bind a state to its request. */
export interface StateClaims {
  readonly method: string;
  readonly target: unknown;
  readonly arguments: string;
  readonly user: string | undefined;
}

/** Why a claim refuses a state. */
export const whyRefused: Readonly<Record<keyof StateClaims, string>> = {
  method: "it belongs to another method",
  target: "it belongs to another tool, prompt or resource",
  arguments: "it belongs to other arguments, or a handler or middleware changed them",
  user: "it belongs to another user",
};

/** Computes the claims. A missing user must match too. */
export async function stateClaimsOf({ method, target, digest, principal }: Bound): Promise<StateClaims> {
  const user = principal && principalKey(principal);
  return { method, target, arguments: await digest(), user };
}
