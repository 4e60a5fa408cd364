// Backplanes whose engine does one thing with tasks differently.
import type { Backplane, JsonObject } from "halyard";
import { backplaneThat } from "./backplane.ts";

/** A task as the engine gets it. */
export interface StoredTask extends JsonObject {
  readonly id: string;
  readonly status: string;
  readonly statusMessage?: string;
}

type Version = string | undefined;
type Write = (task: StoredTask, go: () => Promise<Version>) => Promise<Version>;

interface Differences {
  readonly create?: Write;
  readonly change?: Write;
  readonly read?: (go: () => Promise<unknown>) => Promise<unknown>;
}

/** Each function gets what the engine would do as `go`. */
export function tasksThat({ create, change, read }: Differences, shared?: Backplane): Backplane {
  return backplaneThat(
    (engine) => ({
      create: (key, text, ttlMs) => {
        const go = (): Promise<Version> => engine.create(key, text, ttlMs);
        return create && key.kind === "task" ? create(JSON.parse(text) as StoredTask, go) : go();
      },
      replace: (key, text, ttlMs, version) => {
        const go = (): Promise<Version> => engine.replace(key, text, ttlMs, version);
        return change && key.kind === "task" ? change(JSON.parse(text) as StoredTask, go) : go();
      },
      get: (key) => {
        const go = (): ReturnType<typeof engine.get> => engine.get(key);
        return read && key.kind === "task" ? (read(go) as ReturnType<typeof go>) : go();
      },
    }),
    shared,
  );
}
