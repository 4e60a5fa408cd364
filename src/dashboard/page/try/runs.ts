// The calls of the page: the last call of each entry, its progress, and its result.
import type {
  CallToolResult,
  GetPromptResult,
  McpClient,
  Progress,
  ReadResourceResult,
} from "halyard/client";
import { storeOf } from "../base/store.ts";
import { type Entry, keyOf } from "./entries.ts";
import { type Trouble, troubleOf } from "./trouble.ts";

export type Outcome =
  | { readonly kind: "tool"; readonly result: CallToolResult }
  | { readonly kind: "prompt"; readonly result: GetPromptResult }
  | { readonly kind: "resource"; readonly result: ReadResourceResult }
  | { readonly kind: "trouble"; readonly trouble: Trouble }
  | { readonly kind: "cancelled" };

export interface Run {
  /** What is called, such as `count` or `note:///welcome`. */
  readonly what: string;
  readonly startedAt: number;
  readonly durationMs: number | undefined;
  readonly progress: Progress | undefined;
  /** Undefined while it runs. */
  readonly outcome: Outcome | undefined;
  readonly cancel: () => void;
}

/** The last run of each entry, by its key. */
export const runs = storeOf<ReadonlyMap<string, Run>>(new Map());

/** What a run sends: `uri` for resources, otherwise the arguments. */
export interface Sent {
  readonly values: Record<string, unknown>;
  readonly uri: string | undefined;
}

/** Calls what the entry stands for. The last run of the entry is replaced. */
export async function start(client: McpClient, entry: Entry, sent: Sent): Promise<void> {
  const key = keyOf(entry);
  const abort = new AbortController();
  const began = performance.now();
  let run: Run = {
    what: sent.uri ?? entry.id,
    startedAt: began,
    durationMs: undefined,
    progress: undefined,
    outcome: undefined,
    cancel: () => abort.abort(),
  };
  const show = (news: Partial<Run>): void => {
    run = { ...run, ...news };
    runs.set(new Map([...runs.get(), [key, run]]));
  };
  show({});
  const onProgress = (progress: Progress): void => show({ progress });
  const outcome = await send(client, entry, sent, { signal: abort.signal, onProgress }).catch(
    (error: unknown): Outcome =>
      abort.signal.aborted ? { kind: "cancelled" } : { kind: "trouble", trouble: troubleOf(error) },
  );
  show({ outcome, durationMs: performance.now() - began });
}

async function send(
  client: McpClient,
  { kind, id }: Entry,
  { values, uri }: Sent,
  options: { readonly signal: AbortSignal; readonly onProgress: (progress: Progress) => void },
): Promise<Outcome> {
  if (uri !== undefined)
    return { kind: "resource", result: await client.readResource(uri, { ...options, fresh: true }) };
  if (kind === "tool") return { kind, result: await client.callTool(id, values, options) };
  return {
    kind: "prompt",
    result: await client.getPrompt(id, values as Record<string, string>, options),
  };
}
