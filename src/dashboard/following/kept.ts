// A message as a timeline keeps it: its text, and only the envelope of one that is too large.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Followed, FollowedMessage } from "../../window/index.ts";
import { cut } from "../sampling/texts.ts";
import { followingLimits } from "./limits.ts";

/** Whether only the envelope of a message is kept. */
const shortened = new WeakSet<FollowedMessage>();

export function isShortened(message: FollowedMessage): boolean {
  return shortened.has(message);
}

/** The item, without what takes too much memory. */
export function keptOf(item: Followed): Followed {
  if (item.type !== "message" || item.text.length <= followingLimits.maxMessageCharacters) return item;
  const message = envelopeOf(item.message, `[left out: ${item.text.length} characters]`);
  const kept: FollowedMessage = { ...item, message, text: JSON.stringify(message) };
  shortened.add(kept);
  return kept;
}

/** The members of a message that the timeline needs. */
function envelopeOf({ jsonrpc, id: given, method, params, error }: JsonObject, leftOut: string): JsonObject {
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
