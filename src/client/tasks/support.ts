// Whether the client decides which calls become tasks. In a file of its own, because every call needs it and few need the rest of
// tasks.
import { isObject } from "../../base/wire/message.ts";
import type { ServerFacts } from "../connection/peer.ts";

/** Whether calls become tasks because the client requests it, and the server allows that. */
export function areTasksRequested({ revision, capabilities }: ServerFacts): boolean {
  if (revision.tasks !== "core") return false;
  const { requests } = capabilities.tasks ?? {};
  const { tools } = isObject(requests) ? requests : {};
  return isObject(tools) && isObject(tools["call"]);
}
