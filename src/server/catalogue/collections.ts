// What an author sees of the catalogue: `server.tools`, `server.resources` and their like.
import type { Handle, Registry } from "./registry.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import type { Push } from "../push.ts";

/** The definitions of one kind, by key. */
export class Collection<Options extends object> {
  readonly #registry: Registry<Options, unknown>;

  constructor(registry: Registry<Options, unknown>) {
    this.#registry = registry;
  }

  /** How many are enabled. */
  get size(): number {
    return this.#registry.size;
  }

  /** The keys of those that are enabled, in order of registration. */
  keys(): string[] {
    return this.#registry.visible.map((entry) => entry.key);
  }

  get(key: string): Handle<Partial<Options>> | undefined {
    return this.#registry.get(key);
  }

  /** False when there was none. */
  remove(key: string): boolean {
    return this.#registry.remove(key);
  }
}

/** The resources, and the word that one of them has changed. */
export class ResourceCollection<Options extends object> extends Collection<Options> {
  readonly #push: Push;

  constructor(registry: Registry<Options, unknown>, push: Push) {
    super(registry);
    this.#push = push;
  }

  /** Tells everyone who subscribed to this URI that it has changed. Answers how many. */
  updated(uri: string): Promise<number> {
    return this.#push.publish(resourceUpdated, uri, { uri });
  }
}
