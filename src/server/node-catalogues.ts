// Compares the catalogues of nodes: when one with other definitions joins, or the last of its kind leaves, clients read the lists again.
import type { Cluster } from "../backplane/cluster.ts";
import { isObject, type JsonObject } from "../wire/message.ts";
import type { ChangingList } from "./catalogue/catalogue.ts";

/** The fingerprint of each list of a node. */
export type Prints = Readonly<Record<ChangingList, string>>;

interface Announcer {
  prints(): Prints;
  /** Notifies the clients of all nodes that a list has changed. */
  announce(list: ChangingList): void;
}

/** What this node knows since it has joined. */
interface Stay {
  readonly node: string;
  /** The lists of the other nodes, as they introduced themselves last. */
  readonly others: Map<string, JsonObject>;
  /** The lists that differed from those of a node that was there before this one. */
  readonly differing: Set<ChangingList>;
  hasJoined: boolean;
}

/**
 * Every beat carries the fingerprints. The nodes that were there answer the first words of a new one with a beat, so that only the new
 * one knows that it is new: it announces each list that differs, once.
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
    // All nodes notice that one has left, so the first of them speaks for all.
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
