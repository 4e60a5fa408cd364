// Turns changes of the catalogue into notifications, one per burst.
import { type Cluster, PartKind, type PartOf } from "../cluster/node/cluster.ts";
import { logRejection } from "../base/logging/rate-limited-log.ts";
import { listChanged } from "../protocol/notifications.ts";
import type { ChangeLog } from "./push/changes.ts";
import type { Hub } from "./push/hub.ts";
import type { Catalogue, ChangingList } from "./catalogue/catalogue.ts";
import type { fingerprintOf, registriesOf } from "./catalogue/fingerprint.ts";
import type { compareCatalogues, Prints } from "./node-catalogues.ts";
import type { Settings } from "./settings/settings.ts";

const lists = Object.keys(listChanged) as readonly ChangingList[];

/** Compares the lists of nodes. */
export const comparedCatalogues: PartKind<{
  readonly fingerprintOf: typeof fingerprintOf;
  readonly registriesOf: typeof registriesOf;
  readonly compareCatalogues: typeof compareCatalogues;
}> = new PartKind("catalogues");

interface ListChangesParts {
  readonly settings: Settings;
  readonly hub: Hub;
  /** The catalogue, which is created later. */
  readonly catalogue: () => Catalogue;
  readonly cluster: Cluster;
  readonly changes: ChangeLog;
}

export class ListChanges {
  readonly #parts: ListChangesParts;
  /** The lists that have changed in this turn. */
  readonly #pending = new Set<ChangingList>();
  /** The fingerprints that other nodes announced last. */
  readonly #announced = new Map<ChangingList, string>();
  readonly #compared: PartOf<typeof comparedCatalogues> | undefined;

  constructor(parts: ListChangesParts) {
    this.#parts = parts;
    const { cluster, changes } = parts;
    this.#compared = cluster.part(comparedCatalogues);
    if (this.#compared === undefined) return;
    changes.onAnnounced((method, print) => this.#heard(method, print));
    this.#compared.compareCatalogues(cluster, {
      prints: () => Object.fromEntries(lists.map((list) => [list, this.#print(list)])) as Prints,
      announce: (list) => this.#announce(list),
    });
  }

  /** Notes that a list has changed: clients are notified once per turn. */
  note(list: ChangingList): void {
    if (this.#pending.size === 0) queueMicrotask(() => this.#publish());
    this.#pending.add(list);
  }

  #print(list: ChangingList): string {
    const { settings, catalogue } = this.#parts;
    const { modern, legacy } = settings.revisions;
    return this.#compared?.fingerprintOf(catalogue(), list, [modern, legacy]) ?? "";
  }

  /** Notifies the clients of all nodes that a list has changed. */
  #announce(list: ChangingList): void {
    const { hub, settings, changes } = this.#parts;
    const notification = listChanged[list];
    const print = this.#compared && changes.isShared ? this.#print(list) : undefined;
    const publishing = hub.announce(notification, print).then((delivered) => {
      settings.observe?.({ type: "push", notification, key: undefined, delivered });
    });
    logRejection(settings.logger, "Publishing a change", publishing);
  }

  #publish(): void {
    const changed = [...this.#pending];
    this.#pending.clear();
    for (const list of changed) if (!this.#isKnown(list)) this.#announce(list);
  }

  /** Whether another node has announced the same change, and no client has read the list as it was here since then. */
  #isKnown(list: ChangingList): boolean {
    const print = this.#announced.get(list);
    if (print === undefined || print !== this.#print(list)) return false;
    return this.#registries(list).every(({ isListed }) => !isListed);
  }

  /** Called when a list is announced, with the fingerprint if it is that of another node. */
  #heard(method: string, print: string | undefined): void {
    const list = lists.find((name) => listChanged[name] === method);
    if (list === undefined) return;
    if (print === undefined) return void this.#announced.delete(list);
    this.#announced.set(list, print);
    for (const registry of this.#registries(list)) registry.isListed = false;
  }

  #registries(list: ChangingList): ReturnType<(typeof registriesOf)[ChangingList]> {
    return this.#compared?.registriesOf[list](this.#parts.catalogue()) ?? [];
  }
}
