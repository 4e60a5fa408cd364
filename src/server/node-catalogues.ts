// Compares the catalogues of nodes. Clients read the lists again when a node with other definitions joins, or the last one with
// them leaves.
import type { Cluster } from "../cluster/node/cluster.ts";
import { isObject, type JsonObject } from "../base/wire/message.ts";
import type { ChangingList } from "./catalogue/catalogue.ts";

/** The fingerprint of each list of a node. */
export type Prints = Readonly<Record<ChangingList, string>>;

interface Announcer {
  prints(): Prints;
  /** Notifies the clients of all nodes that a list has changed. */
  announce(list: ChangingList): void;
}

/** What this node has learned since it joined. */
interface Stay {
  readonly node: string;
  /** The lists of the other nodes, as they introduced themselves last. */
  readonly others: Map<string, JsonObject>;
  /** The lists that differed from those of a node that was running before this one. */
  readonly differing: Set<ChangingList>;
  hasJoined: boolean;
}

/**
 * Each node sends its fingerprints with every heartbeat. Running nodes reply to the hello of a new node with a heartbeat. The new
 * node compares its lists with these replies, and announces each list that differs, once.
 */
export function compareCatalogues(cluster: Cluster, { prints, announce }: Announcer): void {
  let current: Stay | undefined;
  const stay = (): Stay => {
    const { node } = cluster;
    if (current?.node !== node) current = { node, others: new Map(), differing: new Set(), hasJoined: false };
    return current;
  };
  const heard = (from: string, about: unknown, isAnswer: boolean): void => {
    const { node, others, differing, hasJoined } = stay();
    if (from === node || !isObject(about)) return;
    const isNew = !others.has(from);
    others.set(from, about);
    if (!isNew || !isAnswer) return;
    for (const list of differencesOf(about, prints())) {
      if (hasJoined && !differing.has(list)) announce(list);
      differing.add(list);
    }
  };
  const left = (node: string): void => {
    const { others } = stay();
    const about = others.get(node);
    others.delete(node);
    // All nodes notice that one has left, but only the first one announces the change.
    const [first] = cluster
      .nodes()
      .map(({ id }) => id)
      .toSorted();
    if (about === undefined || first !== cluster.node) return;
    const isGone = (list: ChangingList): boolean =>
      [...others.values()].every((other) => other[list] !== about[list]);
    for (const list of differencesOf(about, prints()).filter(isGone)) announce(list);
  };
  cluster.introduce(() => ({ lists: prints() }));
  cluster.on("hello", ({ lists }, from) => heard(from, lists, false));
  cluster.on("beat", ({ lists }, from) => heard(from, lists, true));
  cluster.onLeft(left);
  cluster.onJoin(async () => {
    stay().hasJoined = true;
    for (const list of stay().differing) announce(list);
  });
}

function differencesOf(about: JsonObject, own: Prints): ChangingList[] {
  const lists = Object.keys(own) as ChangingList[];
  return lists.filter((list) => typeof about[list] === "string" && about[list] !== own[list]);
}
