// Roots: the folders that the server may work on.
import { ConfigurationError } from "../../base/errors.ts";
import { mismatch } from "../../base/kinds.ts";
import type { Root } from "../../protocol/asking.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { RootsOption } from "../settings/handlers.ts";
import { mistake, type QuestionReading } from "./question.ts";

/** Throws if roots given as a list are invalid: then no answer could ever be sent. */
export function checkRoots(option: RootsOption | undefined): void {
  if (option === undefined || typeof option === "function") return;
  const problem = rootsProblem(option);
  if (problem !== undefined)
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "roots" }, problem);
}

export function readRoots(option: RootsOption): QuestionReading {
  return {
    ok: true,
    ask: async (): Promise<JsonObject> => {
      const roots = typeof option === "function" ? await option() : option;
      const problem = rootsProblem(roots);
      if (problem !== undefined) throw mistake("roots", problem);
      return { roots };
    },
  };
}

/** A segment that leads out of a folder, however it is written. */
const upwards = /[/\\](?:\.|%2e){2}(?:[/\\]|$)/i;

function rootsProblem(roots: readonly Root[]): string | undefined {
  const isList = Array.isArray(roots) && roots.every((root) => typeof Object(root).uri === "string");
  if (!isList) return mismatch('a list such as [{ uri: "file:///home/ada" }]', roots);
  const wrong = (roots as readonly (Root | null)[]).find((root) => !isFolder(root?.uri));
  if (wrong === undefined) return undefined;
  return `has the URI ${JSON.stringify(wrong?.uri)}: use an absolute file:// URI without ".." segments`;
}

function isFolder(uri: unknown): boolean {
  return typeof uri === "string" && uri.startsWith("file://") && URL.canParse(uri) && !upwards.test(uri);
}
