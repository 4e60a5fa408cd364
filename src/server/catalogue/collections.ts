// The catalogue as authors see it: `server.tools`, `server.resources`, `server.prompts` and others.
import { clip } from "../../base/errors.ts";
import { mismatch } from "../../base/kinds.ts";
import type { Handle, Registry } from "./registry.ts";
import { listChanged, resourceUpdated } from "../../protocol/notifications.ts";
import { isResourceUri } from "../../protocol/uri.ts";
import { refuseNames } from "../../base/refused-names.ts";

/** In other packages, a collection registers definitions, or is an array or a map of them. */
function refuseOtherNames(collection: object, name: string, usage: string): void {
  const changed =
    name === "resourceTemplates"
      ? "server.resources.listChanged()"
      : "nothing: clients are notified of every change";
  refuseNames(collection, {
    subject: `server.${name}`,
    methods: {
      "add register set": `server.${usage}`,
      delete: "remove(key)",
      has: "get(key)",
      "map filter find forEach list values entries": "keys(), and get(key) for one",
      ...(name !== "resources" && { listChanged: changed }),
    },
    read: { length: "size" },
  });
}

/** The definitions of one kind, by key. */
export class Collection<Options extends object> {
  readonly #registry: Registry<Options, unknown>;

  /** `name`: that of the collection on the server. */
  constructor(name: string, registry: Registry<Options, unknown>) {
    refuseOtherNames(this, name, registry.kind.usage);
    this.#registry = registry;
  }

  /** The number of enabled definitions. */
  get size(): number {
    return this.#registry.size;
  }

  /** The keys of the enabled definitions, in order of registration. */
  keys(): string[] {
    return this.#registry.visible.map((entry) => entry.key);
  }

  get(key: string): Handle<Partial<Options>> | undefined {
    return this.#registry.get(key);
  }

  /** Returns false if there was none. */
  remove(key: string): boolean {
    return this.#registry.remove(key);
  }
}

const resourceUri = 'the URI of a resource, such as "note:///groceries"';

/** Sends a notification about a key to its subscribers. */
interface Publisher {
  publish(notification: string, key?: string, params?: object): Promise<number>;
}

/** The resources, and the notifications that one of them, or their list, has changed. */
export class ResourceCollection<Options extends object> extends Collection<Options> {
  readonly #push: Publisher;

  constructor(registry: Registry<Options, unknown>, push: Publisher) {
    super("resources", registry);
    this.#push = push;
  }

  /**
   * Notifies every client that subscribed to this URI that it has changed. Resolves with their number; with a `backplane`, with the
   * number of those on this node.
   */
  updated(uri: string): Promise<number> {
    // A URI has no braces, so no client can have subscribed to a template.
    if (typeof uri === "string" && /[{}]/.test(uri))
      throw new TypeError(`server.resources.updated(uri): ${clip(uri)} is a template: fill in its variables`);
    if (typeof uri !== "string" || !isResourceUri(uri))
      throw new TypeError(`server.resources.updated(uri): uri ${mismatch(resourceUri, uri)}`);
    return this.#push.publish(resourceUpdated, uri, { uri });
  }

  /**
   * Notifies every client that watches the list of resources. Call it when a template's `list` returns other resources than
   * before. The server announces what you register, update or remove. Resolves with their number, like `updated`.
   */
  listChanged(): Promise<number> {
    return this.#push.publish(listChanged.resources);
  }
}
