// Asks all other nodes a question with the answer yes or no.
import { HalyardError } from "../errors.ts";
import type { JsonObject } from "../wire/message.ts";
import type { Cluster } from "./cluster.ts";

/** Milliseconds that nodes have to answer each other. */
const answerMs = 1000;

/** Answers `kind` of {@link askNodes} on this node. */
export function answerNodes(
  cluster: Cluster,
  kind: string,
  isYes: (body: JsonObject) => boolean | Promise<boolean>,
): void {
  cluster.on(kind, async (body) => ({ yes: await isYes(body) }));
}

/** Resolves with `yes` as soon as one node says so, and with `silence` if a node that this one hears does not answer in time. */
export async function askNodes(
  cluster: Cluster,
  kind: string,
  body: JsonObject,
): Promise<"yes" | "no" | "silence"> {
  const silent = new Set(cluster.nodes().flatMap(({ id, isSelf }) => (isSelf ? [] : [id])));
  if (silent.size === 0) return "no";
  let isYes = false;
  await cluster.bus.requestAll(kind, body, answerMs, ({ yes }, from) => {
    silent.delete(from);
    isYes ||= yes === true;
    return isYes || silent.size === 0;
  });
  if (isYes) return "yes";
  return [...silent].some((node) => cluster.hears(node)) ? "silence" : "no";
}

/** Sends a message to one node and resolves with its answer, or with undefined if that node is gone. Rejects if it does not answer. */
export async function askNode(
  cluster: Cluster,
  node: string,
  kind: string,
  body: JsonObject,
): Promise<JsonObject | undefined> {
  const answer = await cluster.bus.request(node, kind, body, answerMs);
  if (answer !== undefined || !cluster.hears(node)) return answer;
  const problem = `Node ${node} did not respond within ${answerMs} ms`;
  throw new HalyardError("BACKPLANE_UNAVAILABLE", `${problem}: try again later`);
}
