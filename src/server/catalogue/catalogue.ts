// The catalogue of a server: its tools, prompts, resources, custom methods and extensions.
import type { Logger } from "../../base/logging/logger.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { SchemaSettings } from "../../protocol/schema/compile.ts";
import type { CompletionHandler } from "./completers.ts";
import { type Extension, Extensions } from "./extensions.ts";
import { type AddedMethod, type CompiledMethod, methodKind, type MethodOptions } from "./methods.ts";
import { type CompiledPrompt, promptKind, type PromptOptions } from "./prompts.ts";
import { Registry } from "./registry.ts";
import {
  type CompiledResource,
  type CompiledTemplate,
  resourceKind,
  type ResourceOptions,
  templateKind,
  type TemplateOptions,
} from "./resources.ts";
import { type CompiledTool, toolKind, type ToolOptions } from "./tools.ts";

/** A list that clients can watch for changes. */
export type ChangingList = "tools" | "prompts" | "resources";

interface CatalogueHooks {
  readonly onListChange: (list: ChangingList) => void;
  /** Called for each tool that can run as a task. */
  readonly onTask: () => void;
  /** Called when something was added that may be a new capability. */
  readonly onAdded: () => void;
}

export class Catalogue {
  readonly tools: Registry<ToolOptions, CompiledTool>;
  readonly prompts: Registry<PromptOptions, CompiledPrompt>;
  readonly resources: Registry<ResourceOptions, CompiledResource>;
  readonly templates: Registry<TemplateOptions, CompiledTemplate>;
  readonly methods: Registry<MethodOptions, CompiledMethod>;
  readonly extensions: Extensions;
  readonly #onAdded: () => void;
  #completion: CompletionHandler | undefined;

  constructor(
    settings: SchemaSettings & { readonly logger: Logger },
    { onListChange, onTask, onAdded }: CatalogueHooks,
  ) {
    const onChange = (list: ChangingList): void => {
      onListChange(list);
      onAdded();
    };
    this.#onAdded = onAdded;
    this.tools = new Registry(toolKind(onTask, settings), () => onChange("tools"));
    this.prompts = new Registry(promptKind(settings), () => onChange("prompts"));
    this.resources = new Registry(resourceKind, () => onChange("resources"));
    this.templates = new Registry(templateKind, () => onChange("resources"));
    const isOfExtension = (name: string): boolean => this.extensions.requests.has(name);
    this.methods = new Registry(methodKind(isOfExtension, settings), () => {});
    this.extensions = new Extensions((name) => this.methods.get(name) !== undefined);
  }

  /** Runs before the completers of the arguments. */
  get completion(): CompletionHandler | undefined {
    return this.#completion;
  }

  set completion(handler: CompletionHandler) {
    this.#completion = handler;
    this.#onAdded();
  }

  addExtension(identifier: string, extension: Extension): void {
    this.extensions.add(identifier, extension);
    this.#onAdded();
  }

  /** Whether any definition has, or had, `scopes`. If not, requests skip every scope check. */
  get isScoped(): boolean {
    const { tools, prompts, resources, templates, methods } = this;
    return tools.isScoped || prompts.isScoped || resources.isScoped || templates.isScoped || methods.isScoped;
  }

  /** Finds a custom method, or a method of an extension, that clients of the era can call. */
  findMethod(method: string, era: Revision["era"]): AddedMethod | undefined {
    return this.methods.find(method) ?? this.extensions.find(method, era);
  }
}
