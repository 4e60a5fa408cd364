// Roots: the files and folders that the client lets the server use.
import type { Root } from "../../protocol/asking.ts";
import { isObject } from "../../base/wire/message.ts";
import type { ClientQuestion } from "./question.ts";

export const rootsMethod = "roots/list";

export const rootsQuestion: ClientQuestion<readonly Root[]> = {
  method: rootsMethod,
  params: undefined,
  requires: { roots: {} },
  timeoutMs: 60_000,
  read({ roots }) {
    return Array.isArray(roots) && roots.every(isRoot)
      ? { ok: true, value: roots }
      : { ok: false, problem: "roots must be an array of objects with a uri" };
  },
};

function isRoot(value: unknown): value is Root {
  return isObject(value) && typeof value["uri"] === "string";
}
