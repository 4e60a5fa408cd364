// Resources and resource templates: their definitions, and how they are checked, matched and published.
import { clip, ConfigurationError } from "../../base/errors.ts";
import {
  filledText,
  func,
  type Known,
  mimeType,
  options as optionsOf,
  wholeNumber,
} from "../../base/kinds.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type {
  Annotations,
  CacheHint,
  ReadResourceResult,
  Resource,
  ResourceContents,
} from "../../protocol/model.ts";
import type { TemplateParams } from "../../protocol/uri-template.ts";
import { isResourceUri, maxUriLength } from "../../protocol/uri.ts";
import { readTemplate, type TemplateMatcher } from "../../protocol/uri-template-match.ts";
import type { InputRequired } from "./results.ts";
import type { Context } from "../context/context.ts";
import type { Completer } from "./completers.ts";
import {
  type AnyHandler,
  checkCompleters,
  type CheckedHandler,
  completers,
  type Described,
  describedFields,
  knownAnnotations,
  refuseField,
} from "./definition.ts";
import { knownCacheHint } from "../settings/options.ts";
import type { DefinitionKind, Entry, Registry } from "./registry.ts";
import { refuseNames } from "../../base/refused-names.ts";

const usage = "a handler gets ({ uri, params }, ctx)";
const partsOfUrl = ["href", "pathname", "host", "hostname", "searchParams"];

/** The definition of a resource. */
export interface ResourceDefinition extends Described {
  /** @default {the URI} */
  readonly name?: string | undefined;
  /** The MIME type of the contents, unless the handler returns another. */
  readonly mimeType?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
  /** The audience of the resource, its importance, and when it changed. */
  readonly annotations?: Annotations | undefined;
  /** How long clients may cache the contents. */
  readonly cache?: CacheHint | undefined;
}

/** The definition of a resource template. */
export interface TemplateDefinition<Extra = object> extends Omit<ResourceDefinition, "size"> {
  /** Suggest values for the variables, by name. */
  readonly complete?: Readonly<Record<string, Completer<Extra>>> | undefined;
  /**
   * Lists the resources that match. `resources/list` returns them after the registered ones, in pages, to callers that have
   * the scopes. It runs for each page. If the list changes, call `server.resources.listChanged()`.
   */
  readonly list?:
    | ((
        ctx: Context & Extra,
      ) =>
        | ListedResources
        | { readonly resources: ListedResources }
        | Promise<ListedResources | { readonly resources: ListedResources }>)
    | undefined;
}

/** A resource as the `list` of a template returns it. The name defaults to the URI, and the MIME type to the template's. */
export type ListedResource = Omit<Resource, "name"> & { readonly name?: string };

type ListedResources = readonly ListedResource[];

/** What a resource handler may return: text, bytes, contents, or the full result. */
export type ResourceReturn =
  | string
  | Uint8Array
  | ResourceContents
  | readonly ResourceContents[]
  | ReadResourceResult
  | InputRequired;

/** Reads a resource. It receives the URI and the context of the call. */
export type ResourceHandler<Extra = object> = (
  args: { readonly uri: string },
  ctx: Context & Extra,
) => ResourceReturn | Promise<ResourceReturn>;

/** Reads a resource that matches a template. It receives the URI with its variables, and the context of the call. */
export type TemplateHandler<Template extends string = string, Extra = object> = (
  args: { readonly uri: string; readonly params: TemplateParams<Template> },
  ctx: Context & Extra,
) => ResourceReturn | Promise<ResourceReturn>;

export interface ResourceOptions extends ResourceDefinition {
  readonly handler: AnyHandler;
}

export interface TemplateOptions extends TemplateDefinition {
  readonly handler: AnyHandler;
}

/** A resource, ready to read. */
export interface CompiledResource {
  readonly uri: string;
  readonly options: ResourceOptions;
  readonly handler: CheckedHandler;
  /** What the arguments of the handler inherit. */
  readonly names: object;
}

/** A resource template, ready to match and read. */
export interface CompiledTemplate {
  readonly template: TemplateMatcher;
  readonly options: TemplateOptions;
  readonly handler: CheckedHandler;
  readonly names: object;
}

const templateFields: Known<Omit<TemplateOptions, "complete" | "list">> = {
  ...describedFields,
  name: filledText,
  mimeType,
  annotations: optionsOf(knownAnnotations),
  cache: optionsOf(knownCacheHint),
};
const resourceFields: Known<ResourceOptions> = { ...templateFields, size: wholeNumber };

const namesWithoutTemplate = argumentNames([]);

export const resourceKind: DefinitionKind<ResourceOptions, CompiledResource> = {
  noun: "resource",
  keyField: "uri",
  usage: "resource(uri, { name, description }, handler)",
  fields: resourceFields,

  compile(uri, options, subject) {
    if (!isResourceUri(uri) || drive.test(uri))
      throw new ConfigurationError("INVALID_NAME", { subject, field: "uri" }, uriProblem(uri));
    checkResource(subject, options);
    return { uri, options, handler: options.handler as CheckedHandler, names: namesWithoutTemplate };
  },

  publish({ uri, options }, revision) {
    return encodeShape({ ...options, uri, name: options.name ?? uri }, "resource", revision);
  },
};

export const templateKind: DefinitionKind<TemplateOptions, CompiledTemplate> = {
  noun: "resource template",
  keyField: "uriTemplate",
  usage: "resourceTemplate(uriTemplate, { name, description }, handler)",
  fields: { ...templateFields, complete: completers, list: func } satisfies Known<TemplateOptions>,

  compile(source, options, subject) {
    checkResource(subject, options);
    const template = parseTemplate(source, subject);
    if (template.variables.length === 0) refuseTemplate(subject, withoutVariable(source));
    checkCompleters(subject, options.complete, template.variables, "a variable of the template");
    const handler = options.handler as CheckedHandler;
    return { template, options, handler, names: argumentNames(template.variables) };
  },

  publish({ template, options }, revision) {
    const { source: uriTemplate } = template;
    const name = options.name ?? uriTemplate;
    return encodeShape({ ...options, uriTemplate, name }, "resourceTemplate", revision);
  },
};

type Resources = Registry<ResourceOptions, CompiledResource>;
type Templates = Registry<TemplateOptions, CompiledTemplate>;

/** The definition that reads a URI, and the arguments for its handler. */
interface Resolved {
  readonly source: CompiledResource | CompiledTemplate;
  readonly args: object;
}

/** Finds the definition that reads `uri`: the resource itself, or the first template that matches. */
export function resolveResource(
  uri: string,
  resources: Resources,
  templates: Templates,
): Resolved | undefined {
  const resource = resources.find(uri);
  return resource
    ? { source: resource, args: argumentsOf(resource.names, { uri }) }
    : matchTemplate(uri, templates.visible);
}

/** Finds the definition whose scopes protect `uri`: the one that reads it or, if it is disabled, the one that would. */
export function guardOf(
  uri: string,
  resources: Resources,
  templates: Templates,
): ResourceDefinition | undefined {
  const source =
    resolveResource(uri, resources, templates)?.source ??
    resources.peek(uri) ??
    matchTemplate(uri, templates.all)?.source;
  return source?.options;
}

function matchTemplate(
  uri: string,
  templates: Iterable<Entry<TemplateOptions, CompiledTemplate>>,
): Resolved | undefined {
  // Matching takes time linear in the length, so longer URIs are not tried.
  if (uri.length > maxUriLength) return undefined;
  for (const { compiled } of templates) {
    const params = compiled.template.match(uri);
    if (params === undefined) continue;
    // RFC 6570 lets any variable be absent, but handlers can rely on those outside a query.
    const isWhole = compiled.template.unnamed.every((name) => params[name] !== undefined);
    if (isWhole) return { source: compiled, args: argumentsOf(compiled.names, { uri, params }) };
  }
  return undefined;
}

/** The drive of a path of Windows, which would pass for a scheme or a host. */
const drive = /^(file:\/\/)?([a-z]):[\\/](?!\/)/i;

/** What is wrong with a text that is not the URI of a resource. */
function uriProblem(uri: string): string {
  const [onDrive, scheme, letter] = drive.exec(uri) ?? [];
  if (scheme !== undefined) return `has the host "${letter}": write file:///${letter}:/…`;
  if (onDrive !== undefined) return "is a path of Windows: pass pathToFileURL(path).href";
  const variable = /\{[^{}]*\}/.exec(uri)?.[0];
  if (uri.length > maxUriLength) return `must have at most ${maxUriLength} characters`;
  if (variable !== undefined)
    return `has the variable ${clip(variable)}: register it with server.resourceTemplate()`;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri))
    return 'must be an absolute URI (RFC 3986), such as "note:///groceries"';
  return "has a character that a URI must escape (RFC 3986): pass it through encodeURI()";
}

function checkResource(subject: string, options: ResourceOptions | TemplateOptions): void {
  if (options.scopes !== undefined && options.cache?.scope === "public") {
    refuseField(
      subject,
      "cache",
      "is public, but scopes restrict who may read the resource: make it private",
    );
  }
}

function parseTemplate(source: string, subject: string): TemplateMatcher {
  const foreign = foreignVariable(source);
  if (foreign !== undefined) refuseTemplate(subject, foreign);
  try {
    return readTemplate(source);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const [problem, at] = /unexpected .* at position (\d+)$/.exec(message) ?? [message];
    const isInName = /\{[^}]*$/.test(source.slice(0, Number(at)));
    const rule = isInName ? ": the name of a variable has only letters, digits, _ and ." : "";
    return refuseTemplate(subject, `is not a URI template (RFC 6570): ${problem}${rule}`, cause);
  }
}

function refuseTemplate(subject: string, problem: string, cause?: unknown): never {
  throw new ConfigurationError("INVALID_NAME", { subject, field: "uriTemplate" }, problem, { cause });
}

/** What is wrong with a variable that is written as in JavaScript, or as a wildcard of FastMCP. */
function foreignVariable(source: string): string | undefined {
  const [inCode, variable] = /\$(\{[^{}]*\})/.exec(source) ?? [];
  if (inCode !== undefined) return `has ${clip(inCode)}, which is JavaScript: write ${clip(variable ?? "")}`;
  // In other places `*` may be meant: it expands a list with commas.
  const [wildcard, name] = /\{(\w*path|(?<=^file:.*\{)\w+)\*\}/is.exec(source) ?? [];
  return wildcard && `has ${clip(wildcard)}, which does not match "/": write {+${clip(name ?? "")}}`;
}

/** What is wrong with a template that has no variable, such as a router's pattern. */
function withoutVariable(source: string): string {
  const [, pattern] = /\/(\*|:\w+|\[[.\w]+\])/.exec(source) ?? [];
  if (pattern === undefined) return "has no variable, such as {name}: register it with server.resource()";
  const name = pattern.replaceAll(/\W/g, "") || "path";
  const sign = /^.\w/.test(pattern) ? "" : "+";
  return `has ${clip(pattern)}, which is a pattern of a router: write {${sign}${clip(name)}}`;
}

/** The prototype of the arguments: its getters throw for names of other packages, which would otherwise read undefined. */
function argumentNames(variables: readonly string[]): object {
  const read: Record<string, string> = {};
  for (const name of partsOfUrl) read[name] = `args.uri: ${usage}`;
  for (const name of variables) if (!(name in Object.prototype)) read[name] = `args.params.${name}: ${usage}`;
  return refuseNames({}, { subject: "args", methods: {}, read });
}

function argumentsOf(names: object, given: object): object {
  return Object.assign(Object.create(names) as object, given);
}
