// What a server offers: its definitions, by kind, and the methods that an author has added to the protocol.
import type { Logger } from "../../diagnostics/logger.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { SchemaSettings } from "../../schema/compile.ts";
import type { CompletionHandler } from "./completers.ts";
import { Extensions } from "./extensions.ts";
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

/** A list whose changes clients are told of. */
export type ChangingList = "tools" | "prompts" | "resources";

export class Catalogue {
  readonly tools: Registry<ToolOptions, CompiledTool>;
  readonly prompts: Registry<PromptOptions, CompiledPrompt>;
  readonly resources: Registry<ResourceOptions, CompiledResource>;
  readonly templates: Registry<TemplateOptions, CompiledTemplate>;
  readonly methods: Registry<MethodOptions, CompiledMethod>;
  readonly extensions: Extensions;
  /** Completes arguments before their own completers do. */
  completion: CompletionHandler | undefined;

  /** Calls `onChange` for each change of a list, and `onTask` for each tool that can run as a task. */
  constructor(
    settings: SchemaSettings & { readonly logger: Logger },
    onChange: (list: ChangingList) => void,
    onTask: () => void,
  ) {
    this.tools = new Registry(toolKind(onTask, settings), () => onChange("tools"));
    this.prompts = new Registry(promptKind(settings), () => onChange("prompts"));
    this.resources = new Registry(resourceKind, () => onChange("resources"));
    this.templates = new Registry(templateKind, () => onChange("resources"));
    const isOfExtension = (name: string): boolean => this.extensions.requests.has(name);
    this.methods = new Registry(methodKind(isOfExtension, settings), () => {});
    this.extensions = new Extensions((name) => this.methods.get(name) !== undefined);
  }

  /** Whether any definition names scopes, or ever did: without one, scopes cost a request nothing. */
  get isScoped(): boolean {
    const { tools, prompts, resources, templates, methods } = this;
    return tools.isScoped || prompts.isScoped || resources.isScoped || templates.isScoped || methods.isScoped;
  }

  /** The method that an author has added under that name, alone or in an extension, if clients of that era have it. */
  findMethod(method: string, era: Revision["era"]): AddedMethod | undefined {
    return this.methods.find(method) ?? this.extensions.find(method, era);
  }
}
