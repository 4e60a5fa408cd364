// What the server has to offer, and what of it this peer can be told: capabilities are derived, never set by hand.
import type { ServerCapabilities } from "../../protocol/model.ts";
import type { Feature, Revision } from "../../protocol/revision.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { Exchange } from "../context/connection.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Settings } from "../settings/settings.ts";

/** Answers what is there, from what is registered and what was declared ahead. */
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
        return tools.used || declared.tools === true;
      case "prompts":
        return prompts.used || declared.prompts === true;
      case "resources":
        return resources.used || templates.used || declared.resources === true;
      case "completions":
        return completion !== undefined || declared.completions === true || this.#hasCompleters();
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

  /** Whether the feature can be used over this exchange: what cannot be delivered does not exist. */
  isOffered(feature: Feature, revision: Revision, exchange: Exchange): boolean {
    if (!this.has(feature)) return false;
    return feature === "subscribe" || feature === "listen" ? this.canPush(revision, exchange) : true;
  }

  /** Whether changes can reach this peer: a modern one on the stream of its listen request, a legacy one in its session. */
  canPush(revision: Revision, exchange: Exchange): boolean {
    if (revision.era === "modern") return exchange.stream !== undefined;
    return exchange.connection.session !== undefined && this.#settings.mode !== "stateless";
  }

  /** The capabilities as a peer is told of them, to whom changes can be pushed or not. */
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
