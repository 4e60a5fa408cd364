// A node on an engine alone, without a server, and what the engine passed to it.
import type { Backplane } from "halyard";
import { onTestFinished } from "vitest";
import type { Engine, JoinOptions } from "./backplane.ts";
import { recordingLogger } from "./log.ts";

type Entry = Parameters<JoinOptions["receiver"]["entry"]>[1];

export interface EngineNode {
  readonly id: string;
  readonly engine: Engine;
  readonly messages: string[];
  readonly entries: (Entry & { readonly log: string })[];
  /** `lost` and `back`, as they came. */
  readonly outages: string[];
  readonly logger: ReturnType<typeof recordingLogger>;
}

/** Opens a node until the test ends. */
export async function openNode(backplane: Backplane, prefix = "test:"): Promise<EngineNode> {
  const node = {
    id: crypto.randomUUID(),
    messages: [] as string[],
    entries: [] as EngineNode["entries"],
    outages: [] as string[],
    logger: recordingLogger(),
  };
  const engine = await backplane.open({
    prefix,
    node: node.id,
    logger: node.logger,
    receiver: {
      message: (text) => void node.messages.push(text),
      entry: (log, entry) => void node.entries.push({ log, ...entry }),
      lost: () => void node.outages.push("lost"),
      back: () => void node.outages.push("back"),
    },
  });
  onTestFinished(() => engine.close());
  return { ...node, engine };
}
