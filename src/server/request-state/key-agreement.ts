// Refuses a node whose configured keys of request state have nothing in common with those of the running nodes.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { ValueKey } from "../../cluster/engine/engine.ts";
import { changeValue } from "../../cluster/engine/edits.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { readJson } from "../../base/wire/json.ts";

/** Holds the ids of the keys that the node that joined last is configured with; an empty list means that the engine has the keys. */
const place: ValueKey = { kind: "key", tag: "configured-keys" };

/** The request by which a node asks the others for the ids of their keys. */
const question = "configured-keys";

/** Milliseconds that other nodes have to say which keys they have. */
const answerMs = 2000;

/** Answers other nodes, and lets this one join only if they can open each other's states. `ids` are those of the configured keys. */
export function agreeOnKeys(cluster: Cluster, ids: () => Promise<readonly string[]>): void {
  cluster.on(question, async () => ({ ids: await ids() }));
  cluster.onJoin(async () => {
    const own = await ids();
    await changeValue(cluster.engine, place, "The list of configured keys", async (stored) => {
      const others = stored && readIds(stored.text);
      if (others && !areAlike(own, others) && (await differ(cluster, own))) throw mismatch(own);
      const text = JSON.stringify(own);
      return stored?.text === text ? undefined : { text };
    });
  });
}

/** Whether a running node has other keys. The value alone may come from nodes that have stopped. */
async function differ(cluster: Cluster, own: readonly string[]): Promise<boolean> {
  let isOther = false;
  await cluster.bus.requestAll(question, {}, answerMs, ({ ids }, from) => {
    const theirs = from !== cluster.node && Array.isArray(ids) ? ids.map(String) : undefined;
    return (isOther ||= theirs !== undefined && !areAlike(own, theirs));
  });
  return isOther;
}

function areAlike(own: readonly string[], others: readonly string[]): boolean {
  return own.length === 0 ? others.length === 0 : own.some((id) => others.includes(id));
}

function readIds(text: string): readonly string[] {
  const ids = readJson(text);
  return Array.isArray(ids) ? ids.map(String) : [];
}

function mismatch(own: readonly string[]): ConfigurationError {
  const where = { subject: "secureRequestState", field: "keys" };
  const problem =
    own.length === 0
      ? "is missing, but the running nodes have keys: pass the same to every node"
      : "has no key in common with the running nodes: pass the same, or keys: [new, old] while you change them";
  return new ConfigurationError("INVALID_OPTION", where, problem);
}
