// The catalogue of a server as entries of one list: tools, prompts, resources and resource templates.
import type { McpClient, Prompt, Resource, ResourceTemplate, Tool } from "halyard/client";
import { expand } from "../../../protocol/uri-template-expand.ts";
import { parse, type TemplatePart } from "../../../protocol/uri-template-parse.ts";
import { type Field, formOf, textForm } from "./fields.ts";

export const kinds = ["tool", "prompt", "resource", "template"] as const;
export type Kind = (typeof kinds)[number];

export interface Entry {
  readonly kind: Kind;
  /** Identifies the entry in requests and links: the name, the URI or the template. */
  readonly id: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly form: Field;
  /** The parts of a template. */
  readonly parts?: readonly TemplatePart[];
  /** Further facts, such as "read only". */
  readonly marks: readonly string[];
  /** As the server describes it. */
  readonly listed: Tool | Prompt | Resource | ResourceTemplate | undefined;
}

/** Names an entry among all. */
export function keyOf({ kind, id }: Pick<Entry, "kind" | "id">): string {
  return `${kind} ${id}`;
}

const nothing = formOf({ type: "object" });

/** A resource that no list names, such as one that a result links to. */
export function unlisted(uri: string): Entry {
  return {
    kind: "resource",
    id: uri,
    title: uri,
    description: undefined,
    form: nothing,
    marks: [],
    listed: undefined,
  };
}

/** All entries of the server. Features that it does not offer are left out; `failures` has the lists that could not be read. */
export async function readEntries(
  client: McpClient,
): Promise<{ readonly entries: readonly Entry[]; readonly failures: readonly unknown[] }> {
  const { tools, prompts, resources } = client.capabilities;
  const lists = await Promise.allSettled([
    tools ? client.listTools().then((all) => all.map(ofTool)) : [],
    prompts ? client.listPrompts().then((all) => all.map(ofPrompt)) : [],
    resources ? client.listResources().then((all) => all.map(ofResource)) : [],
    resources ? client.listResourceTemplates().then((all) => all.map(ofTemplate)) : [],
  ]);
  return {
    entries: lists.flatMap((list) => (list.status === "fulfilled" ? list.value : [])),
    failures: lists.flatMap((list) => (list.status === "rejected" ? [list.reason as unknown] : [])),
  };
}

function ofTool(tool: Tool): Entry {
  const { name, title, description, inputSchema, annotations, execution } = tool;
  const marks = [
    annotations?.readOnlyHint && "read only",
    annotations?.destructiveHint && "destructive",
    annotations?.idempotentHint && "idempotent",
    execution?.taskSupport === "required" && "task",
    execution?.taskSupport === "optional" && "may be a task",
  ].filter((mark) => typeof mark === "string");
  const shown = title ?? annotations?.title ?? name;
  return {
    kind: "tool",
    id: name,
    title: shown,
    description,
    form: formOf(inputSchema),
    marks,
    listed: tool,
  };
}

function ofPrompt(prompt: Prompt): Entry {
  const { name, title = name, description } = prompt;
  const form = textForm(prompt.arguments ?? []);
  return { kind: "prompt", id: name, title, description, form, marks: [], listed: prompt };
}

function ofResource(resource: Resource): Entry {
  const { uri, name, title = name, description, mimeType } = resource;
  const marks = mimeType === undefined ? [] : [mimeType];
  return { kind: "resource", id: uri, title, description, form: nothing, marks, listed: resource };
}

function ofTemplate(template: ResourceTemplate): Entry {
  const { uriTemplate, name, title = name, description, mimeType } = template;
  const parts = partsOf(uriTemplate);
  const names = new Set(parts?.flatMap(({ variables }) => variables.map((variable) => variable.name)));
  const form = textForm([...names].map((variable) => ({ name: variable })));
  const marks = [mimeType, parts ? undefined : "invalid template"].filter((mark) => mark !== undefined);
  const entry = {
    kind: "template",
    id: uriTemplate,
    title,
    description,
    form,
    marks,
    listed: template,
  } as const;
  return parts ? { ...entry, parts } : entry;
}

function partsOf(template: string): readonly TemplatePart[] | undefined {
  try {
    return parse(template);
  } catch {
    return undefined;
  }
}

/** The URI that an entry reads, with these values in its template; undefined for what is not read. */
export function uriOf(
  { kind, id, parts }: Entry,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  if (kind !== "resource" && kind !== "template") return undefined;
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return parts ? expand(parts, Object.fromEntries(texts)) : id;
}

/** The entries that contain every word of the search. */
export function found(entries: readonly Entry[], search: string): readonly Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ kind, id, title, description = "" }) => {
    const text = `${kind} ${id} ${title} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
