// Ids that begin with the node that made them, so that every node knows where to send messages about them.
import type { Cluster } from "./cluster.ts";

const pattern = /^([\w-]{12})\.[\da-f-]{36}$/;

/** An unguessable id. In a cluster, it begins with the id of this node. */
export function newIdOn({ node }: Pick<Cluster, "node">): string {
  const id = crypto.randomUUID();
  return node === "" ? id : `${node}.${id}`;
}

/** The node that made this id, if the id names one. Clients may send any value. */
export function nodeOf(id: unknown): string | undefined {
  return typeof id === "string" ? pattern.exec(id)?.[1] : undefined;
}
