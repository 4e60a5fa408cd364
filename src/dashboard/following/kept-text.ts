// The text of a message as it is kept: without secrets, and only the envelope of one that is too large.
import { withoutSecrets } from "../../client/redaction/messages.ts";
import { Secrets } from "../../client/redaction/secrets.ts";
import { type Incoming, isBatch, isObject, type JsonObject } from "../../base/wire/message.ts";
import { readJson } from "../../base/wire/json.ts";
import { cut } from "../sampling/peers.ts";
import { followingLimits } from "./limits.ts";

export interface KeptText {
  readonly text: string;
  readonly isShortened: boolean;
}

/** The text of a client's message or batch; undefined if it is no message. */
export function textOfIncoming(incoming: Incoming, session: string | undefined): KeptText | undefined {
  if (isBatch(incoming)) return kept(incoming, session);
  return incoming.ok ? kept(incoming.message, session) : undefined;
}

/** The text of what the server wrote. */
export function textOfWritten(text: string, session: string | undefined): KeptText | undefined {
  const value = readJson(text);
  return value === undefined ? undefined : kept(value, session);
}

/** `session`: the id of the client's session, which others must not see. */
function kept(value: unknown, session: string | undefined): KeptText {
  const text = whole(value, session);
  if (text !== undefined && text.length <= followingLimits.maxMessageCharacters)
    return { text, isShortened: false };
  const size = text === undefined ? "too many levels" : `${text.length} characters`;
  const envelope = isObject(value) ? envelopeOf(value, `[left out: ${size}]`) : [];
  return { text: JSON.stringify(envelope), isShortened: true };
}

/** Undefined if it is nested too deeply for the stack: a tool may return anything. */
function whole(value: unknown, session: string | undefined): string | undefined {
  try {
    const secrets = new Secrets();
    secrets.add("session-id", session);
    return JSON.stringify(withoutSecrets(value, secrets));
  } catch {
    return undefined;
  }
}

/** The members of a message that the timeline needs. */
function envelopeOf({ jsonrpc, id: given, method, params, error }: JsonObject, leftOut: string): unknown {
  const id = short(given);
  if (isObject(error)) return { jsonrpc, id, error: { code: error["code"], message: leftOut } };
  if (method === undefined) return { jsonrpc, id, result: { leftOut } };
  const { name, uri, taskId } = isObject(params) ? params : {};
  return {
    jsonrpc,
    id,
    method: short(method),
    params: { name: short(name), uri: short(uri), taskId: short(taskId), leftOut },
  };
}

/** Longer than any text of an entry, so that cutting a member does not change the entry. */
const maxMember = 1000;

function short(member: unknown): unknown {
  return typeof member === "string" ? cut(member, maxMember) : member;
}
