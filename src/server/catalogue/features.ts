// What the server has to offer, and what of it this peer can be told: capabilities are derived, never set by hand.
import type { ServerCapabilities } from "../../protocol/model.ts";
import type { Feature, Revision } from "../../protocol/revision.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { Exchange } from "../context/connection.ts";
import type { CompiledPrompt, PromptOptions } from "./prompts.ts";
import type { Registry } from "./registry.ts";
import type { CompiledTemplate, TemplateOptions } from "./resources.ts";
import type { Settings } from "../options.ts";

/** What the answers are derived from. */
interface Offer {
  readonly settings: Settings;
  readonly tools: { readonly used: boolean };
  readonly resources: { readonly used: boolean };
  readonly prompts: Registry<PromptOptions, CompiledPrompt>;
  readonly templates: Registry<TemplateOptions, CompiledTemplate>;
  readonly completion: { readonly handler: unknown };
  readonly extensions: { settings(era: Revision["era"]): JsonObject | undefined };
  readonly tasks: { readonly offered: boolean };
}

/** Answers what is there, from what is registered and what was declared ahead. */
export class Features {
  readonly #offer: Offer;

  constructor(offer: Offer) {
    this.#offer = offer;
  }

  has(feature: Feature): boolean {
    const { settings, tools, prompts, resources, templates, completion } = this.#offer;
    const declared = settings.capabilities;
    switch (feature) {
      case "tools":
        return tools.used || declared.tools === true;
      case "prompts":
        return prompts.used || declared.prompts === true;
      case "resources":
        return resources.used || templates.used || declared.resources === true;
      case "completions":
        return completion.handler !== undefined || declared.completions === true || this.#hasCompleters();
      case "logging":
        return declared.logging !== false;
      case "subscribe":
        return this.has("resources");
      case "listen":
        return this.has("tools") || this.has("prompts") || this.has("resources");
      case "tasks":
        return this.#offer.tasks.offered;
    }
  }

  #hasCompleters(): boolean {
    const { prompts, templates } = this.#offer;
    return [...prompts.visible, ...templates.visible].some(
      ({ compiled }) => compiled.options.complete !== undefined,
    );
  }

  /** Whether the feature can be used over this exchange: what cannot be delivered does not exist. */
  isOffered(feature: Feature, table: Revision, exchange: Exchange): boolean {
    if (!this.has(feature)) return false;
    return feature === "subscribe" || feature === "listen" ? this.canPush(table, exchange) : true;
  }

  /** Whether changes can reach this peer: a modern one on the stream of its listen request, a legacy one in its session. */
  canPush(table: Revision, exchange: Exchange): boolean {
    if (table.era === "modern") return exchange.stream !== undefined;
    return exchange.connection.session !== undefined && this.#offer.settings.mode !== "stateless";
  }

  /** The capabilities as a peer is told of them, to whom changes can be pushed or not. */
  capabilities(table: Revision, canPush: boolean): ServerCapabilities {
    const listChanged = canPush ? { listChanged: true } : {};
    const subscribe = canPush ? { subscribe: true } : {};
    const { experimental } = this.#offer.settings.capabilities;
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
      extensions: this.#offer.extensions.settings(table.era),
    };
    const known = Object.entries(all).filter(
      ([name, value]) => value !== undefined && table.serverCapabilities.has(name),
    );
    return Object.fromEntries(known);
  }
}
