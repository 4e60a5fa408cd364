// Derives the features of a server, and the capabilities that it declares to a client, from its catalogue and options.
import type { ServerCapabilities } from "../../protocol/model.ts";
import type { Feature, Revision } from "../../protocol/revision.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Exchange } from "../context/connection.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Settings } from "../settings/settings.ts";

/** A server has a feature if a definition uses it, or if the `capabilities` option declares it in advance. */
export class Features {
  readonly #catalogue: Catalogue;
  readonly #settings: Settings;
  readonly #tasks: { readonly offered: boolean };

  constructor(catalogue: Catalogue, settings: Settings, tasks: { readonly offered: boolean }) {
    this.#catalogue = catalogue;
    this.#settings = settings;
    this.#tasks = tasks;
  }

  has(feature: Feature): boolean {
    const { tools, prompts, resources, templates, completion } = this.#catalogue;
    const declared = this.#settings.capabilities;
    switch (feature) {
      case "tools":
        return tools.used || declared.tools !== undefined;
      case "prompts":
        return prompts.used || declared.prompts !== undefined;
      case "resources":
        return resources.used || templates.used || declared.resources !== undefined;
      case "completions":
        return completion !== undefined || declared.completions !== undefined || this.#hasCompleters();
      case "logging":
        return declared.logging !== false;
      case "subscribe":
        return this.has("resources");
      case "listen":
        return this.has("tools") || this.has("prompts") || this.has("resources");
      case "tasks":
        return this.#tasks.offered;
    }
  }

  #hasCompleters(): boolean {
    const { prompts, templates } = this.#catalogue;
    return [...prompts.visible, ...templates.visible].some(
      ({ compiled }) => compiled.options.complete !== undefined,
    );
  }

  /** Whether the client of this exchange can use the feature. It cannot subscribe if no notification can reach it. */
  isOffered(feature: Feature, revision: Revision, exchange: Exchange): boolean {
    if (!this.has(feature)) return false;
    return feature === "subscribe" || feature === "listen" ? this.canPush(revision, exchange) : true;
  }

  /** Whether notifications can reach the client: a modern client needs a stream for its listen request, a legacy one a session. */
  canPush(revision: Revision, exchange: Exchange): boolean {
    if (revision.era === "modern") return exchange.stream !== undefined;
    return exchange.connection.session !== undefined && this.#settings.mode !== "stateless";
  }

  /** The capabilities that the server declares to a client of the revision. `canPush`: notifications can reach the client. */
  capabilities(revision: Revision, canPush: boolean): ServerCapabilities {
    const listChanged = canPush ? { listChanged: true } : {};
    const subscribe = canPush ? { subscribe: true } : {};
    const { experimental } = this.#settings.capabilities;
    const all: Record<keyof ServerCapabilities, JsonObject | undefined> = {
      tools: this.has("tools") ? listChanged : undefined,
      prompts: this.has("prompts") ? listChanged : undefined,
      resources: this.has("resources") ? { ...subscribe, ...listChanged } : undefined,
      completions: this.has("completions") ? {} : undefined,
      logging: this.has("logging") ? {} : undefined,
      experimental,
      tasks: this.has("tasks")
        ? { ...(canPush && { list: {} }), cancel: {}, requests: { tools: { call: {} } } }
        : undefined,
      extensions: this.#catalogue.extensions.settings(revision.era),
    };
    const known = Object.entries(all).filter(
      ([name, value]) => value !== undefined && revision.serverCapabilities.has(name),
    );
    return Object.fromEntries(known);
  }
}
